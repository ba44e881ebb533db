"""Finding the regions in which a property fails."""
