"""Predictions beside measurements."""
