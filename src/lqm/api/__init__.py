"""The public functions, one a file: a typed request in, a result out."""
