"""Order: what a machine that has all of another and more owes to it."""
