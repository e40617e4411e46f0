"""The first things that a reader asks of streams of tasks, answered in a line each."""

import shlex
from collections.abc import Sequence

from lqm.evaluation.labels import size_of
from lqm.evaluation.latents import Latents
from lqm.evaluation.markdown import percent
from lqm.evaluation.significance import welch
from lqm.evaluation.spread import Spread, in_points
from lqm.evaluation.streams import StreamRun
from lqm.evaluation.verdict import beside_random
from lqm.report.page.answer import Answer, Line, and_more
from lqm.report.page.banner import Verdict, tone_of
from lqm.utils.paths import shown_path

# Streams that keep all tasks whole, and nothing: what a memory lies between.
BOUNDS = {"joint": "joint: keeps everything", "finetuning": "finetuning: keeps nothing"}


def answers_of_streams(
    streams: Sequence[StreamRun], tasks: Sequence[Sequence[str]], latents: Latents | None
) -> list[Answer]:
    """How good in the end, how far from keeping everything, what was forgotten, which task is worst."""
    good = [
        Line(i, f"{_value(stream.average[-1])} %", _beyond(stream.average[-1]))
        for i, stream in enumerate(streams)
    ]
    found = [
        Answer(
            "How good is it in the end?",
            good,
            f"AA: accuracy after the last task, averaged over all tasks{mean_of_repeats(streams)}.",
        )
    ]
    found += _how_far(streams)
    transfers = [stream.transfer[-1] for stream in streams]
    forgotten = [Line(i, in_points(each.mean), _beyond(each)) for i, each in enumerate(transfers) if each]
    if forgotten:
        note = (
            "BWT: what later tasks did to the accuracy on earlier ones, in points; below 0, it was forgotten."
        )
        found.append(Answer("What was forgotten?", forgotten, note))
    worst = []
    for i, stream in enumerate(streams):
        last = stream.mean[-1].tolist()
        lowest = [task for task, accuracy in enumerate(last) if accuracy == min(last)]
        names = f" (classes {', '.join(tasks[lowest[0]])})" if len(lowest) == 1 else ""
        worst.append(Line(i, f"task {lowest[0]}{and_more(lowest)}", f"{percent(min(last))} %{names}"))
    found.append(Answer("Which task is worst?", worst, "By its accuracy after the last task."))
    if latents:
        means = [Line(i, f"{mean:.3f}") for i, mean in enumerate(latents.means) if mean is not None]
        note = (
            "Cramér-von Mises statistic of the latent features that the first repeat keeps; lower is better, "
            "among memories of as many nodes. By one network, which is too few to tell near ones apart."
        )
        found.append(Answer("How well is the memory matched?", means, note))
    return found


def _how_far(streams: Sequence[StreamRun]) -> list[Answer]:
    """Beside streams that keep everything, and nothing; where these were not given, how to have them."""
    methods = [stream.config["method"] for stream in streams]
    joint, nothing = (
        streams[methods.index(method)] if method in methods else None for method in ("joint", "finetuning")
    )
    own = [i for i, method in enumerate(methods) if method not in BOUNDS]
    question = "How far from keeping everything?"
    if joint is None and own:
        folder = shlex.quote(shown_path(streams[own[0]].folder))
        note = (
            "Run lqm continual with --method joint, and with --method finetuning, on the same stream, and "
            f"name their folders beside this one: lqm report {folder} JOINT FINETUNING."
        )
        return [Answer(question, [Line(i, "not measured") for i in own], note)]
    lines = [
        Line(i, in_points(stream.average[-1].mean - joint.average[-1].mean), "points")
        for i, stream in enumerate(streams)
        if joint and stream.config["method"] != "joint"
    ]
    if joint is None or not lines:
        return []
    note = f"{joint.label} keeps all tasks whole and reaches {_value(joint.average[-1])} %"
    if nothing:
        note += f"; {nothing.label} keeps nothing and reaches {_value(nothing.average[-1])} %"
    return [Answer(question, lines, f"{note}.")]


def verdicts_of_streams(streams: Sequence[StreamRun]) -> list[Verdict]:
    """What each memory is worth beside one of as many random nodes, where the page has such a stream."""
    found = []
    for stream in streams:
        if random := next((other for other in streams if _random_beside(other, stream)), None):
            difference = welch(stream.average[-1], random.average[-1])
            real = f"random nodes ({size_of(random.config)} a task)"
            tried = "another method or a larger budget", "more repeats"
            line = f"{stream.label}, by AA: {beside_random(difference, real, *tried, unit='repeat')}"
            found.append(Verdict(tone_of(difference), line))
    return found


def _random_beside(random: StreamRun, stream: StreamRun) -> bool:
    """Whether one stream keeps as many random nodes as another keeps nodes, and learns in the same way.

    Random nodes have their propagated features; older versions gave them their own.
    """
    own, other = random.config["settings"], stream.config["settings"]
    return (
        random.config["method"] == "random" != stream.config["method"]
        and random.config["budget"] == stream.config["budget"]
        and own.get("features") == "propagated"
        and all(own[name] == other[name] for name in own.keys() & other.keys() - {"features"})
    )


def mean_of_repeats(streams: Sequence[StreamRun]) -> str:
    """What follows a number that is a mean of repeats."""
    return ", as the mean of the repeats" if any(len(stream.matrices) > 1 for stream in streams) else ""


def _value(spread: Spread) -> str:
    return spread.percent().partition(" ")[0].replace("-", "\N{MINUS SIGN}")


def _beyond(spread: Spread) -> str:
    return spread.percent().partition(" ")[2]
