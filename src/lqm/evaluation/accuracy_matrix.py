"""What accuracy matrices show: how well a stream is known, and how much of it was forgotten."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lqm.evaluation.markdown import Rows, markdown
from lqm.evaluation.spread import Spread

# So many tasks fit into a page.
_WIDEST = 12


@dataclass(frozen=True, eq=False)
class AccuracyMatrices:
    """Accuracies A[r, k, i] in repeat r on task i after task k, [R, K, K]; NaN above the diagonal."""

    matrices: Tensor

    @property
    def mean(self) -> Tensor:
        """The mean over repeats, [K, K]."""
        return self.matrices.mean(dim=0)

    @property
    def average(self) -> list[Spread]:
        """AA after each task."""
        return [Spread(tuple(column)) for column in average_accuracies(self.matrices).T.tolist()]

    @property
    def transfer(self) -> list[Spread | None]:
        """BWT after each task; None after the first."""
        tasks = self.matrices.shape[-1]
        after = [backward_transfer(self.matrices[:, : k + 1, : k + 1]) for k in range(tasks)]
        return [None if each is None else Spread(tuple(each.tolist())) for each in after]

    def layout(self, widest: int = _WIDEST) -> tuple[Sequence[str], Rows]:
        """Header and rows of a table: the mean unless it has too many columns, and AA after each task."""
        matrix = self.mean
        columns = range(len(matrix) if len(matrix) <= widest else 0)
        header = ("after task", *(f"task {i}" for i in columns), "average")
        rows = []
        for k, average in enumerate(self.average):
            known = (f"{100 * matrix[k, i]:.1f}" if i <= k else "" for i in columns)
            rows.append((str(k), *known, average.percent()))
        return header, rows

    def notes(self, title: str) -> list[str]:
        """AA, BWT, and what the numbers are."""
        transfer, repeats = self.transfer[-1], len(self.matrices)
        over = f"mean ± sample standard deviation over {repeats} repeats" if repeats > 1 else "1 repeat"
        return [
            f"AA {self.average[-1].percent()}",
            f"BWT {transfer.percent() if transfer else '-'}",
            f"{title}: accuracy in percent, {over}; AA: average accuracy after the last task; "
            "BWT: backward transfer, below 0 where tasks were forgotten.",
        ]

    def markdown(self, title: str) -> str:
        """The table and its notes as Markdown."""
        return "\n\n".join([markdown(*self.layout()), *self.notes(title)]) + "\n"


def average_accuracies(matrices: Tensor) -> Tensor:
    """Average accuracy after each task, AA_k = mean over i <= k of A[k, i].

    Shapes: matrices [..., K, K], of which nothing above the diagonal is read; result [..., K].
    """
    counts = torch.arange(1, matrices.shape[-1] + 1, dtype=matrices.dtype)
    return matrices.nan_to_num().tril().sum(dim=-1) / counts


def backward_transfer(matrices: Tensor) -> Tensor | None:
    """Backward transfer, the mean over all tasks but the last of A[last, i] - A[i, i]; negative: forgetting.

    Shapes: matrices [..., K, K]; result [...]. None where there is one task, which nothing follows.
    """
    if matrices.shape[-1] == 1:
        return None
    before = matrices.diagonal(dim1=-2, dim2=-1)
    return (matrices[..., -1, :-1] - before[..., :-1]).mean(dim=-1)
