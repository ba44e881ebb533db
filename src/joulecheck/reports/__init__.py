"""Reports: a writer of one format each, fed with events; none knows the campaign."""
