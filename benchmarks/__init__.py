"""What is measured beside studies: `ratios` of speed (`make bench`), `scale`, and finished `sets`."""
