"""Ranking across classes: what holds in one technology and in the catalogue."""
