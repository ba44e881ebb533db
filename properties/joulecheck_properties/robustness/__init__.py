"""Robustness: valid input gets finite numbers."""
