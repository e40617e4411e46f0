"""What `--json` prints: one document a command, each field of which stays what it is within a schema."""

from lqm.cli.documents.audits import AuditDocument
from lqm.cli.documents.base import Document, as_json
from lqm.cli.documents.listings import (
    CacheDocument,
    CompareDocument,
    RecipesDocument,
    RunsDocument,
)
from lqm.cli.documents.planned import PlanDocument
from lqm.cli.documents.results import (
    CondenseDocument,
    ContinualDocument,
    DemoDocument,
    EvaluateDocument,
    ExpertsDocument,
    SketchDocument,
)
from lqm.cli.documents.studies import StudyDocument
from lqm.cli.documents.written import ExportDocument, FiguresDocument, ImportDocument, ReportDocument

# By the command; `--dry-run` and `--estimate` print a `PlanDocument` in the place of any of them.
DOCUMENTS: dict[str, type[Document]] = {
    "condense": CondenseDocument,
    "sketch": SketchDocument,
    "experts": ExpertsDocument,
    "continual": ContinualDocument,
    "evaluate": EvaluateDocument,
    "study": StudyDocument,
    "audit": AuditDocument,
    "compare": CompareDocument,
    "report": ReportDocument,
    "runs": RunsDocument,
    "figures": FiguresDocument,
    "export": ExportDocument,
    "import": ImportDocument,
    "recipes": RecipesDocument,
    "cache": CacheDocument,
    "demo": DemoDocument,
}

__all__ = [
    "DOCUMENTS",
    "AuditDocument",
    "CacheDocument",
    "CompareDocument",
    "CondenseDocument",
    "ContinualDocument",
    "DemoDocument",
    "Document",
    "EvaluateDocument",
    "ExpertsDocument",
    "ExportDocument",
    "FiguresDocument",
    "ImportDocument",
    "PlanDocument",
    "RecipesDocument",
    "ReportDocument",
    "RunsDocument",
    "SketchDocument",
    "StudyDocument",
    "as_json",
]
