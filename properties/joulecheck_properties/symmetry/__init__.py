"""Equivalences: one piece of work in two spellings, or in the order of its parts."""
