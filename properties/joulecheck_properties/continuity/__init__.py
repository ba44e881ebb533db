"""Continuity: what parts, a little more work and more room cost or save at most."""
