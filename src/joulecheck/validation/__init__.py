"""The validation record: what a model's numbers are held to."""
