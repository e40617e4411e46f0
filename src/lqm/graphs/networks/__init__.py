"""phi in S* = argmin D(phi(T), phi(S)), for graphs: networks that name the class of every node.

A new network is one file beside this one and one line in the table below; its options are the arguments of
its constructor that have a default.
"""

from lqm.graphs.networks.appnp import APPNP
from lqm.graphs.networks.gat import GAT
from lqm.graphs.networks.gcn import GCN, MLP
from lqm.graphs.networks.inputs import Inputs
from lqm.graphs.networks.network import GraphNetwork
from lqm.graphs.networks.own import NetworkMaker, make_own
from lqm.graphs.networks.sage import SAGE
from lqm.graphs.networks.sgc import SGC
from lqm.utils.specs import canonical, described, read_spec

NETWORKS: dict[str, type[GraphNetwork]] = {
    "gcn": GCN,
    "sgc": SGC,
    "gat": GAT,
    "sage": SAGE,
    "appnp": APPNP,
    "mlp": MLP,
}

__all__ = ["NETWORKS", "GraphNetwork", "Inputs", "NetworkMaker", "check_spec", "describe", "make_network"]


def make_network(spec: str | NetworkMaker, features: int, classes: int) -> GraphNetwork:
    """The network that `spec` names or makes, with fresh weights.

    Args:
        spec: such as `gcn`, `gcn:width=512:depth=3` or `sgc:hops=3`; or a function of the numbers of features
            and classes that returns a module which is called as PyG's networks are, `module(x, edge_index)`.
        features: number of features of a node.
        classes: number of classes.

    Raises:
        ConfigError: when there is no such network, or it can't be made.
    """
    if not isinstance(spec, str):
        return make_own(spec, features, classes)
    name, options = read_spec(spec, NETWORKS)
    return NETWORKS[name](features, classes, **options)


def check_spec(spec: str) -> str:
    """The spec in canonical form: the options that were given, in the order of the network's constructor.

    Raises:
        ConfigError: when there is no such network, option or value.

    Example:
        >>> check_spec("gcn:depth=3:width=064")
        'gcn:width=64:depth=3'
    """
    return canonical(spec, NETWORKS)


def describe(spec: str) -> str:
    """A network's name for tables, with what differs from its default.

    Raises:
        ConfigError: when there is no such network, option or value.

    Example:
        >>> describe("gcn:depth=3"), describe("appnp:hops=5")
        ('GCN-3 of width 256', 'APPNP-2 of width 256, 5 hops')
    """
    return described(spec, NETWORKS)
