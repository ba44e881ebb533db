"""Scaling laws: what happens when every coefficient is scaled alike."""
