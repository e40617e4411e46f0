"""The kinds of data there are, and which of them a request is about."""

from dataclasses import fields
from pathlib import Path

from lqm.api.requests import SourceRequest
from lqm.graphs.domain import GRAPHS
from lqm.graphs.sources import GRAPHS as GRAPH_NAMES
from lqm.graphs.sources import is_graph
from lqm.images.domain import IMAGES
from lqm.images.sources import SOURCES
from lqm.methods.domain import Domain
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.names import choose

DOMAINS = (IMAGES, GRAPHS)


def domain_of(request: SourceRequest) -> Domain:
    """The kind of data that a request's source is.

    Raises:
        ConfigError: when there is no such source, or an option or a method is for another kind.
        DataError: when a path leads nowhere.
    """
    source = request.source
    graph = is_graph(source, request.data_dir)
    if not graph and isinstance(source, str) and not Path(source).expanduser().exists():
        _require_named(source)
    domain = GRAPHS if graph else IMAGES
    for other in DOMAINS:
        if other is not domain:
            _refuse_options(request, domain, other)
    return domain


def _require_named(source: str) -> None:
    if Path(source).suffix or "/" in source:
        raise DataError(f"there is no {Path(source).expanduser()}; name a file or folder that is there")
    try:
        choose(source, {**SOURCES, **GRAPH_NAMES}, "source")
    except ConfigError as error:
        raise ConfigError(
            f"{error}, or the path of a folder of class folders, a .npz, a .parquet or a graph"
        ) from None


def _refuse_options(request: SourceRequest, domain: Domain, other: Domain) -> None:
    """Refuse a method and options that are for another kind of data."""
    method = getattr(request, "method", None)
    if method in other.methods and method not in domain.methods:
        raise ConfigError(
            f"method '{method}' is for {other.name}, and '{request.source}' is {domain.article}; "
            f"choose one of {', '.join(domain.methods)}"
        )
    known = {field.name for field in fields(request)}
    for name in other.options:
        if name in known and getattr(request, name) is not None:
            instead = domain.instead.get(name, "leave it out")
            raise ConfigError(
                f"{name} is for {other.name}, and '{request.source}' is {domain.article}; {instead}"
            )
