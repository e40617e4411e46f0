"""How time and memory grow with the size of the data."""
