"""Physical bounds: peaks, bandwidths and shares of a whole."""
