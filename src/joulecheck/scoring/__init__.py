"""Proof that the laws can fail: seeded faults, and which law finds which of them."""
