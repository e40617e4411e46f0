"""Tables and embeddings as a kind of data: features in, rows out."""

from lqm.tabular.sources import TableSource, from_arrays, load_table

__all__ = ["TableSource", "from_arrays", "load_table"]
