"""Precision: a narrower number format never costs more energy."""
