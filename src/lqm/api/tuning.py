"""Tuning: the settings of each arm of a study are chosen on validation records, alike for every distance."""

from collections.abc import Sequence

from lqm.api.cells import Place
from lqm.api.study_run import check_cells, finish
from lqm.studies.arms import RUNGS, Arm, arms_of
from lqm.studies.cell import Cell
from lqm.studies.halving import Choice, Trial, halve, planned
from lqm.studies.lines import StudyHead
from lqm.studies.tuned import TUNED, TUNING, TunedLine, read_tuned, with_choices, write_tuned
from lqm.utils.errors import ConfigError
from lqm.utils.log import warn
from lqm.utils.sentences import counted


def planned_trials(cells: Sequence[Cell], place: Place) -> list[Cell]:
    """As many runs as tuning will make; which candidates go on is not known before, nor asked here."""
    arms = _missing(cells, place)
    return [_cell(arms, trial) for trial in planned([len(arm.candidates) for arm in arms], RUNGS)]


def tune_cells(head: StudyHead, cells: Sequence[Cell], place: Place, *, shown: bool = True) -> list[Cell]:
    """Choose the settings of every arm for which this was not done before; gives the cells with them.

    All combinations of the values in `tune` go through successive halving, with seeds that no cell of the
    study has, and without any test record. Every run leaves a line in `tuning.jsonl` and is not made again;
    every choice leaves one in `tuned.jsonl`.

    Args:
        head: of the study.
        cells: of the study.
        place: where they run.
        shown: whether to show the progress.

    Raises:
        ConfigError: when the study has nothing to choose, or no run works. An arm without one that works is
            named, and the others are chosen.
    """
    if not any(cell.tune for cell in cells):
        raise ConfigError(
            f"study {head.name} has nothing to tune; give its grid tune = {{ steps = [100, 300] }}"
        )
    arms = _missing(cells, place)
    check_cells([arm.trial(settings, RUNGS[0][0]) for arm in arms for settings in arm.candidates], place)
    sizes = [len(arm.candidates) for arm in arms]
    total = len(planned(sizes, RUNGS))
    sentences: dict[int, str] = {}
    made = 0

    def score(trials: Sequence[Trial]) -> list[float | None]:
        nonlocal made
        if shown:
            which = f"runs {made + 1} to {made + len(trials)} of {total}"
            warn(f"tuning {counted(len(arms), 'arm', 'arms')} on validation records: {which}")
        made += len(trials)
        own = [_cell(arms, trial) for trial in trials]
        lines = finish(place.folder / TUNING, head, own, place, shown=shown)
        for trial, line in zip(trials, lines, strict=True):
            sentences.setdefault(trial.arm, line.sentence)
        return [line.accuracy() if line.state == "done" else None for line in lines]

    choices = halve(sizes, score, RUNGS)
    for arm, choice in zip(arms, choices, strict=True):
        if choice.best is not None:
            write_tuned(place.folder / TUNED, _line(head, arm, choice, choice.best))
    for number, (arm, choice) in enumerate(zip(arms, choices, strict=True)):
        if choice.best is None:
            warn(f"nothing is chosen for {arm.name}, since all its candidates failed: {sentences[number]}")
    if arms and all(choice.best is None for choice in choices):
        raise ConfigError(f"nothing was chosen, since every run of the tuning failed: {sentences[0]}")
    return chosen_before(cells, place)


def chosen_before(cells: Sequence[Cell], place: Place) -> list[Cell]:
    """The cells with the settings that tuning has chosen in the folder of their study, if it has."""
    return with_choices(cells, read_tuned(place.folder / TUNED).values())


def _missing(cells: Sequence[Cell], place: Place) -> list[Arm]:
    known = read_tuned(place.folder / TUNED)
    return [arm for arm in arms_of(cells) if arm.key not in known]


def _cell(arms: Sequence[Arm], trial: Trial) -> Cell:
    arm = arms[trial.arm]
    return arm.trial(arm.candidates[trial.candidate], trial.seed)


def _line(head: StudyHead, arm: Arm, choice: Choice, best: int) -> TunedLine:
    return TunedLine(
        head,
        arm.name,
        arm.cell.axes,
        arm.key,
        arm.candidates[best],
        arm.candidates,
        [*choice.rungs],
        len(planned([len(arm.candidates)], RUNGS)),
    )
