"""Packages that a plain install does without: `pip install 'lqm[NAME]'` brings those of an extra."""

from lqm.utils.errors import ConfigError


def missing(what: str, package: str, extra: str) -> ConfigError:
    """The error about work whose package is not installed.

    Example:
        >>> print(missing("a Parquet file", "pyarrow", "parquet"))
        a Parquet file needs pyarrow, which is not installed; pip install 'lqm[parquet]'
    """
    return ConfigError(f"{what} needs {package}, which is not installed; pip install 'lqm[{extra}]'")
