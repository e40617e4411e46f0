"""What a person sees in a notebook while something goes on: one bar that is drawn over again and again."""

import sys
import time
from collections.abc import Mapping
from typing import Any

from lqm.utils.html import bar, text

_SECONDS_BETWEEN = 0.25


class NotebookBar:
    """A bar below a cell of a notebook; everything that one run of a cell follows takes turns at it.

    Args:
        what: the title.
        total: of the steps.
        shell: that of IPython.
    """

    _shown: tuple[int, Any] = (-1, None)

    def __init__(self, what: str, total: int, shell: Any) -> None:
        self._what, self._total, self._drawn_at = what, total, 0.0
        if NotebookBar._shown[0] != shell.execution_count or NotebookBar._shown[1] is None:
            from IPython.display import display

            handle = display(  # type: ignore[no-untyped-call]
                self._bundle(0, ""), raw=True, display_id=True
            )
            NotebookBar._shown = (shell.execution_count, handle)

    def update(self, done: int, left: object, numbers: str, *, at_once: bool = False) -> None:
        """Show that so many steps are made, a few times a second at most."""
        now = time.monotonic()
        if not at_once and now - self._drawn_at < _SECONDS_BETWEEN:
            return
        self._drawn_at = now
        words = f"{left} left" if done < self._total else "done"
        NotebookBar._shown[1].update(self._bundle(done, "  ".join(filter(None, (words, numbers)))), raw=True)

    def _bundle(self, done: int, words: str) -> Mapping[str, str]:
        counted = f"{done:,} of {self._total:,}"
        share = done / self._total if self._total else 1.0
        return {
            "text/plain": f"{self._what}: {counted}  {words}",
            "text/html": f"<div>{text(self._what)} {bar(share)} {counted}&emsp;{text(words)}</div>",
        }


def notebook_shell() -> Any:
    """The shell of IPython, where its kernel has a notebook at the other end; None elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell if getattr(shell, "kernel", None) is not None else None
