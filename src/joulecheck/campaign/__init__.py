"""The search: screen in batches, confirm, shrink, reduce; it yields events only."""
