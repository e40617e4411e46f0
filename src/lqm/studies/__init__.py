"""Studies: grids of runs as data, the lines that they leave behind, and what follows from these lines."""
