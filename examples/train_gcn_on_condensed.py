"""Train a network of PyG on condensed nodes, and test it on the real graph.

lqm condense digits-knn --budget 2% --out runs/nodes
python examples/train_gcn_on_condensed.py runs/nodes
"""

import sys

import torch
from torch_geometric.nn import GCN

import lqm

condensed = lqm.load(sys.argv[1])
data = condensed.to_pyg()  # x, y, edge_index (none) and train_mask

torch.manual_seed(0)
network = GCN(data.num_features, 64, num_layers=2, out_channels=len(condensed.class_names))
optimizer = torch.optim.Adam(network.parameters(), lr=0.01, weight_decay=5e-4)
for _ in range(200):
    optimizer.zero_grad()
    logits = network(data.x, data.edge_index)
    torch.nn.functional.cross_entropy(logits[data.train_mask], data.y[data.train_mask]).backward()
    optimizer.step()

real = lqm.load_graph(**condensed.manifest["origin"]).to_pyg()
with torch.no_grad():
    found = network(real.x, real.edge_index).argmax(dim=1)
right = (found == real.y)[real.test_mask].float().mean()
print(f"trained on {len(data.y)} nodes, right on {right:.1%} of {int(real.test_mask.sum()):,} real ones")
