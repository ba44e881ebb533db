"""Continuity: a whole against its parts, one element more, and more room."""
