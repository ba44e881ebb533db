"""Monotonicity: more work never costs less, and nothing is negative."""
