"""The types of what the public functions take, for type checkers.

At run time they are names for `str`, which is what the command line gives: `lqm --help` waits for no torch.
"""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from torch.utils.data import Dataset
    from torch_geometric.data import Data
    from torch_geometric.data import Dataset as GraphDataset

    from lqm.distances import Distance
    from lqm.graphs.sources import GraphSource
    from lqm.images.networks import NetworkMaker
    from lqm.images.sources import ImageData, ImageSource
    from lqm.tabular.sources import TableSource
    from lqm.utils.given import Array, Frame, GivenData, HubDataset, HubSplits
    from lqm.utils.given import Labels as Labels

    GraphData: TypeAlias = GraphSource | Data | GraphDataset
    HubData: TypeAlias = HubDataset | HubSplits
    # Whether their records are images or rows, no type checker knows.
    ImagesOrRows: TypeAlias = Dataset[object] | Frame
    TestLike: TypeAlias = ImageData | tuple[Array, Labels]
    SourceLike: TypeAlias = str | Path | ImageSource | TableSource | GraphData | Array | TestLike | GivenData
    DistanceLike: TypeAlias = str | Distance
    NetworkLike: TypeAlias = str | NetworkMaker
    Names: TypeAlias = str | Sequence[str]
    Settings: TypeAlias = Mapping[str, object]
    Callback: TypeAlias = Callable[[int, Mapping[str, float]], object]
else:
    SourceLike = TestLike = GraphData = HubData = ImagesOrRows = Labels = DistanceLike = NetworkLike = str
    Names = Settings = Callback = str
