"""Continuity: what a little more costs at most, and what more room saves."""
