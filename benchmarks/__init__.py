"""What is measured, with the plain way to measure against: `make bench`."""
