"""Adapters: foreign models put under test, one module a project, its import inside."""
