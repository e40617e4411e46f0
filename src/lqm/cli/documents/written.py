"""Documents of commands that write files of other forms, or read them."""

from pydantic.dataclasses import dataclass

from lqm.cli.documents.base import STRICT, Document


@dataclass(frozen=True, kw_only=True, config=STRICT)
class ReportDocument(Document):
    """A page that was written.

    Attributes:
        page: where it is.
        bytes: its size.
    """

    command: str = "report"
    page: str
    bytes: int


@dataclass(frozen=True, kw_only=True, config=STRICT)
class FiguresDocument(Document):
    """Figures that were written.

    Attributes:
        files: where they are.
    """

    command: str = "figures"
    files: list[str]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class ExportDocument(Document):
    """A condensed set that was written for other software.

    Attributes:
        path: the folder or file.
        form: that it was written in.
        license: that its card names.
        warnings: what a reader of the set should know.
    """

    command: str = "export"
    path: str
    form: str
    license: str
    warnings: list[str]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class ImportDocument(Document):
    """A set of others, ready to be evaluated.

    Attributes:
        folder: where it is.
        source: the name of the real data that it stands for.
        records: images in the set.
        classes: how many.
        soft_labels: whether its labels are shares of classes.
    """

    command: str = "import"
    folder: str
    source: str
    records: int
    classes: int
    soft_labels: bool
