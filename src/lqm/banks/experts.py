"""Experts: networks along their training on the real data, snapshot after snapshot."""

from pathlib import Path
from typing import Any

from lqm.banks.bank import Bank, BankKind
from lqm.banks.shard import Shard
from lqm.utils.errors import ArtifactError
from lqm.utils.settings import Count, check

EXPERTS = BankKind("experts", "lqm experts", "snapshot", "experts", numbers=2)


class Experts(Bank):
    """The networks of a bank that are trained to the end.

    Attributes:
        networks: how many are used: all that are finished, from the first up to one that is not, or fewer.
        epochs: of each of them; it has one snapshot more, that of its first weights.

    Args:
        path: the folder.
        networks: how many to use at most.
        epochs: how many to use of each.

    Raises:
        ArtifactError: when the folder holds no experts, or none that is finished, or a snapshot is missing.
    """

    def __init__(self, path: str | Path, networks: int | None = None, epochs: int | None = None) -> None:
        check("networks", networks, Count | None)
        check("epochs", epochs, Count | None)
        super().__init__(path, EXPERTS)
        lengths: dict[int, int] = {}
        for network, snapshot in sorted(self.paths):
            lengths[network] = snapshot + 1
        used = max(lengths, default=-1) + 1 if networks is None else networks
        for network in range(min(used, max(lengths, default=-1) + 1)):
            # Of a network that is missing though a later one is there, the first snapshot is named.
            most = lengths.get(network, 1)
            for snapshot in range(most if epochs is None else min(most, epochs + 1)):
                self.require((network, snapshot))
        # A schedule that ends has its number of epochs in the configuration; a constant one may end anywhere.
        meant = self.config.get("epochs") if epochs is None else epochs
        longest = max(lengths.values(), default=0) if meant is None else meant + 1
        there = next(n for n in range(len(lengths) + 1) if lengths.get(n, 0) < max(2, longest))
        if not there:
            raise ArtifactError(
                f"the experts in {self.path} are not finished; let `lqm experts` go on with them"
            )
        self.networks, self.epochs = there if networks is None else min(there, networks), longest - 1

    def snapshot(self, network: int, epoch: int) -> Shard:
        """A network after so many epochs."""
        return self.shard(network, epoch)

    @property
    def identity(self) -> dict[str, Any]:
        """What a condensation by these experts depends on."""
        keys = [(network, epoch) for network in range(self.networks) for epoch in range(self.epochs + 1)]
        return {"sha256": self.identity_of(keys), "networks": self.networks, "epochs": self.epochs}
