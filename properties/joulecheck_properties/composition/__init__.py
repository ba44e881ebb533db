"""Composition: the whole is the sum, or the stated bound, of its parts."""
