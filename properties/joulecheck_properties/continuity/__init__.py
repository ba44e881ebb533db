"""Continuity: a whole against its parts, and one element more."""
