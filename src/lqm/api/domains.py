"""The kinds of data there are, and which of them a request or a set is about."""

from dataclasses import fields
from pathlib import Path

from lqm.api.requests import SourceRequest
from lqm.condensed import CondensedSet
from lqm.graphs.domain import GRAPHS
from lqm.images.domain import IMAGES
from lqm.methods.domain import Domain
from lqm.tabular.domain import TABLES
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.names import choose

# The first that owns a source is asked; images take what no other kind does.
DOMAINS = (GRAPHS, TABLES, IMAGES)


def domain_of(request: SourceRequest) -> Domain:
    """The kind of data that a request's source is.

    Raises:
        ConfigError: when there is no such source, or an option or a method is for another kind.
        DataError: when a path leads nowhere.
    """
    source = request.source
    domain = next(domain for domain in DOMAINS if domain.owns(source, request.data_dir))
    if domain is DOMAINS[-1] and isinstance(source, str) and not Path(source).expanduser().exists():
        _require_named(source)
    for other in DOMAINS:
        if other is not domain:
            _refuse_options(request, domain, other)
    return domain


def domain_of_set(condensed: CondensedSet) -> Domain:
    """The kind of data that a condensed set is."""
    return next(domain for domain in DOMAINS if isinstance(condensed, domain.condensed))


def _require_named(source: str) -> None:
    if Path(source).suffix or "/" in source:
        raise DataError(f"there is no {Path(source).expanduser()}; name a file or folder that is there")
    names = {name: name for domain in DOMAINS for name in domain.names}
    try:
        choose(source, names, "source")
    except ConfigError as error:
        raise ConfigError(
            f"{error}, or the path of a folder of class folders, a .npz, a .parquet, a .csv or a graph"
        ) from None


def _refuse_options(request: SourceRequest, domain: Domain, other: Domain) -> None:
    """Refuse a method and options that are for another kind of data."""
    method, source = getattr(request, "method", None), request.source_name
    if method in other.methods and method not in domain.methods:
        raise ConfigError(
            f"method '{method}' is for {other.name}, and '{source}' is {domain.article}; "
            f"choose one of {', '.join(domain.methods)}"
        )
    usual = {field.name: field.default for field in fields(request)}
    for name in other.options:
        if name in usual and name not in domain.options and getattr(request, name) != usual[name]:
            instead = domain.instead.get(name, "leave it out")
            raise ConfigError(f"{name} is for {other.name}, and '{source}' is {domain.article}; {instead}")
