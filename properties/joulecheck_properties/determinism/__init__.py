"""Determinism: the same question has the same answer."""
