"""What a person sees at a terminal while a run goes on: one panel with all that can be said of it."""

import sys
from collections.abc import Mapping, Sequence
from types import TracebackType

import psutil
import torch
from rich.console import Console, RenderableType
from rich.filesize import decimal
from rich.live import Live
from rich.panel import Panel as Frame
from rich.progress import BarColumn
from rich.table import Table
from rich.text import Text

from lqm.engine.forecast import Forecast
from lqm.engine.progress import STOPPING, Evaluated, Pace, Progress, console_for, last_and_best, rate_text
from lqm.utils.log import warn
from lqm.utils.stop_requests import answer
from lqm.utils.terminal import visible

_WIDEST = 80
_REFRESHES_A_SECOND = 4
_BARS = "▁▂▃▄▅▆▇█"


def follow(
    what: str,
    total: int,
    done: int = 0,
    evaluations: Sequence[Evaluated] = (),
    *,
    shown: bool = True,
    forecast: Forecast | None = None,
) -> "Panel | Progress":
    """A panel at a terminal, plain lines elsewhere; use it in a `with` block.

    Args:
        what: the title.
        total: of the steps.
        done: how many of them were made before.
        evaluations: that were made before.
        shown: whether to show anything.
        forecast: tells what all of it will take.
    """
    console, live = console_for(shown=shown)
    if live:
        return Panel(what, total, done, console, evaluations, forecast)
    return Progress(what, total, done, shown=shown, forecast=forecast)


class Course:
    """The course of a number over any time, as a few means that follow one another.

    Example:
        >>> course = Course(most=8)
        >>> for value in range(100):
        ...     course.add(value)
        >>> course.drawn(6)
        '▁▂▄▅▇█'
    """

    def __init__(self, most: int = 64) -> None:
        self._most, self._means, self._each = most, list[float](), 1
        self._sum, self._count = 0.0, 0

    def add(self, value: float) -> None:
        """The next value."""
        self._sum, self._count = self._sum + value, self._count + 1
        if self._count < self._each:
            return
        means = [*self._means, self._sum / self._count]
        self._sum, self._count = 0.0, 0
        if len(means) == self._most:
            means = [(a + b) / 2 for a, b in zip(means[::2], means[1::2], strict=True)]
            self._each *= 2
        self._means = means

    def drawn(self, width: int) -> str:
        """A line of so many letters at most, the lowest value as the lowest letter; empty if it is flat."""
        means = self._means
        low, high = min(means, default=0.0), max(means, default=0.0)
        if low == high:
            return ""
        letters = min(width, len(means))
        shown = [means[round(i * (len(means) - 1) / max(letters - 1, 1))] for i in range(letters)]
        return "".join(_BARS[round((len(_BARS) - 1) * (value - low) / (high - low))] for value in shown)


class Panel:
    """Follows the steps of a run on a terminal; a thread of its own draws it, so that a step costs nothing.

    Args:
        what: as for `follow`, like the others.
        console: the terminal.
    """

    def __init__(
        self,
        what: str,
        total: int,
        done: int,
        console: Console,
        evaluations: Sequence[Evaluated],
        forecast: Forecast | None = None,
    ) -> None:
        self._forecast = forecast or Forecast(total, done)
        self._what, self._console, self._pace = what, console, Pace(total, done, disable=True)
        self._metrics: Mapping[str, float] = {}
        self._courses: dict[str, Course] = {}
        self._found = last_and_best(evaluations) if evaluations else ""
        self._evaluating = self._stopping = ""
        self._process = psutil.Process()
        self._live = Live(
            console=console,
            refresh_per_second=_REFRESHES_A_SECOND,
            get_renderable=self.drawn,
            # What goes to a file or a pipe is none of the terminal's business.
            redirect_stdout=sys.stdout.isatty(),
        )

    def __enter__(self) -> "Panel":
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._evaluating = ""
        self._live.stop()

    def update(self, done: int, metrics: Mapping[str, float]) -> None:
        """Show that `done` steps of the total are made."""
        self._pace.update(done)
        self._forecast.tell(done, warn)
        for name, value in metrics.items():
            if name not in self._courses:
                self._courses = {**self._courses, name: Course()}
            self._courses[name].add(value)
        self._metrics = metrics

    def evaluating(self, step: int) -> None:
        """An evaluation begins after so many steps."""
        self._evaluating = f"at step {step} ..."
        self._pace.pause()

    def evaluated(self, evaluations: Sequence[Evaluated], left: int) -> None:
        """One more has ended, and so many are still to come."""
        self._pace.go_on(left)
        self._found, self._evaluating = last_and_best(evaluations), ""

    def stopping(self) -> None:
        """A request to stop has arrived, in a signal handler; the thread that draws says so."""
        self._stopping = STOPPING
        answer(STOPPING, written=False)

    def drawn(self) -> RenderableType:
        """The panel as it is now."""
        width = min(_WIDEST, self._console.width)
        pace, task = self._pace, self._pace.task
        table = Table.grid(padding=(0, 2), expand=True)
        # As wide when nothing is being evaluated, so that nothing jumps.
        label = max(map(len, ("evaluating", *map(visible, self._metrics))))
        table.add_column(style="dim", no_wrap=True, min_width=label)
        table.add_column(ratio=1, overflow="fold")
        table.add_row("step", f"{task.completed:,} of {task.total:,}, {task.percentage:.0f} %")
        table.add_row("", BarColumn(None).render(task))
        table.add_row("rate", rate_text(pace.rate))
        table.add_row("time", f"{pace.elapsed}, {pace.left} left")
        for name, value in self._metrics.items():
            number = f"{value:<8.4g}"
            # Borders and gaps take the other eight columns.
            room = width - label - len(number) - 8
            course = self._courses[name].drawn(room)
            table.add_row(Text(visible(name)), Text.assemble(number, "  ", (course, "cyan")))
        for name, words in (
            ("evaluated", self._found),
            ("evaluating", self._evaluating),
            ("signal", self._stopping),
        ):
            if words:
                table.add_row(name, words)
        table.add_row("memory", self._memory())
        return Frame(table, title=Text(visible(self._what)), width=width)

    def _memory(self) -> str:
        words = decimal(self._process.memory_info().rss)
        if torch.cuda.is_initialized():
            devices = range(torch.cuda.device_count())
            words += f", GPU {decimal(sum(torch.cuda.memory_allocated(device) for device in devices))}"
        return words
