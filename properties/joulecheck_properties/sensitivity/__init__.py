"""Sensitivity: a coefficient moves its own terms, in proportion, and no others."""
