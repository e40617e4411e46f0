"""Speed, as ratios of two ways of doing the same work that are timed in turn."""
