"""phi in S* = argmin D(phi(T), phi(S)), for graphs: networks that classify nodes.

A new network is one file beside this one and one line in the table below; its options are the arguments of
its constructor that have a default.
"""

from lqm.graphs.networks.appnp import APPNP
from lqm.graphs.networks.gat import GAT
from lqm.graphs.networks.gcn import GCN, MLP
from lqm.graphs.networks.inputs import Inputs
from lqm.graphs.networks.network import GraphNetwork
from lqm.graphs.networks.own import NetworkMaker, wrap
from lqm.graphs.networks.sage import SAGE
from lqm.graphs.networks.sgc import SGC
from lqm.utils.specs import NetworkTable

NETWORKS = NetworkTable[GraphNetwork, int](
    {"gcn": GCN, "sgc": SGC, "gat": GAT, "sage": SAGE, "appnp": APPNP, "mlp": MLP},
    GraphNetwork,
    wrap,
    inputs="features",
    data="{} features",
)
make_network, check_spec, describe = NETWORKS.make, NETWORKS.check, NETWORKS.describe

__all__ = ["NETWORKS", "GraphNetwork", "Inputs", "NetworkMaker", "check_spec", "describe", "make_network"]
