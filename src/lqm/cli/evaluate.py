"""What a condensed set is worth."""

from dataclasses import asdict
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import tyro

from lqm.api.engine_request import Number
from lqm.cli.arguments import USUAL_ENGINE, Folder, Name, Names, Pieces, Run
from lqm.cli.output import USUAL_WORK, WorkPrinted
from lqm.utils.log import say, warn

if TYPE_CHECKING:
    from lqm import Evaluation
    from lqm.cli.documents import EvaluateDocument


def evaluate(
    run: Run,
    /,
    *,
    protocol: Name = None,
    networks: Names = None,
    repeats: Number = None,
    test_every: Number = None,
    baselines: Annotated[str, tyro.conf.arg(metavar="NAME,...")] = "all",
    source: Annotated[str | None, tyro.conf.arg(metavar="SOURCE", help_behavior_hint="")] = None,
    data_dir: Folder = None,
    compile: Name = None,
    precision: Name = None,
    seed: int = 0,
    device: str = "auto",
    max_memory: Annotated[str | None, tyro.conf.arg(metavar="SIZE", help_behavior_hint="")] = None,
    pieces: Pieces = USUAL_ENGINE,
    output: WorkPrinted = USUAL_WORK,
) -> None:
    """Train fresh networks on a condensed set, test them, and compare with real records.

    Example: lqm evaluate runs/digits --networks convnet,mlp

    Args:
        run: A run, or a saved condensed set.
        protocol: How networks are trained: quick-200, cross-200, learned-200, idc-200, field-1000,
            dsa-1000, learned-1000, soft-1000, idc-1000, idc-1500, field-2000, datadam-1800; of graphs
            cat-500, unbiased-500, graph-quick; of tables table-mlp-200, logistic; else what the set asks for.
        networks: Kinds in place of the protocol's: convnet,mlp,lenet,alexnet,vgg11,resnet18; of graphs
            gcn,sgc,gat,sage,appnp,mlp; of tables mlp,logistic.
        repeats: Networks of each kind, in place of the protocol's number.
        test_every: Images: test after every N epochs too, and show the best apart from the last.
        baselines: Real records to score as well: all, none, or some of random,herding,full; of graphs also
            k-centre and, with features before propagation, random-raw,herding-raw,k-centre-raw; of tables
            also k-centre,k-means.
        source: Where the real data are, if they have moved.
        data_dir: Where the named sources are, if they have moved.
        compile: Whether networks are compiled: auto (default: if it takes long), on, off.
        precision: fp32 (default), bf16, auto (the faster one that works).
        seed: Of the networks and of their training.
        device: Where to compute: auto, cpu, cuda, ...
        max_memory: The most that the content of a file may take, such as 4GB.
        pieces: Where networks are trained.
        output: How it is printed.
    """
    from rich.console import Console

    import lqm
    from lqm.evaluation.labels import mosaics_of
    from lqm.report.tables import score_table
    from lqm.utils.errors import ArtifactError

    chosen = () if baselines == "none" else baselines
    if output.dry_run:
        from lqm.api.dry_run import dry_evaluate
        from lqm.cli.planned import print_plan

        planned = dry_evaluate(
            run,
            source=source,
            data_dir=data_dir,
            max_memory=max_memory,
            device=device,
            jobs=pieces.jobs,
            threads=pieces.threads,
            compile=compile,
            precision=precision,
            protocol=protocol,
            networks=networks or (),
            repeats=repeats,
            test_every=test_every,
            baselines=chosen,
        )
        print_plan(output, "evaluate", [(planned, 1)])
        return
    found = lqm.evaluate(
        run,
        protocol=protocol,
        networks=networks or (),
        repeats=repeats,
        test_every=test_every,
        baselines=chosen,
        source=source,
        data_dir=data_dir,
        compile=compile,
        precision=precision,
        seed=seed,
        device=device,
        max_memory=max_memory,
        **asdict(pieces),
        show_progress=not output.quiet,
    )
    if not output.json:
        say(found.verdict)
    for line in found.warnings:
        warn(f"warning: {line}")
    if output.json:
        output.document(_document(str(run), found))
    else:
        Console().print(score_table(found.by_network, found.protocol, mosaics_of(found.condensed)))
    if found.not_kept:
        raise ArtifactError(f"the score above was not kept: {found.not_kept}")
    output.hint(f"next: lqm report {quote(str(run))}")


def _document(run: str, found: "Evaluation") -> "EvaluateDocument":
    from lqm.cli.documents import EvaluateDocument
    from lqm.cli.documents.base import SpreadEntry
    from lqm.cli.documents.results import ScoreEntry

    scores = [
        ScoreEntry(
            network=network,
            training_set=name,
            records=score.records,
            accuracy=SpreadEntry.of(score.spread),
            by_class=[*score.by_class],
            cramer_von_mises=score.before.cramer_von_mises,
            extremes=score.before.extremes,
            seconds=score.seconds,
        )
        for network, rows in found.by_network.items()
        for name, score in rows.items()
    ]
    return EvaluateDocument(
        run=run,
        source=found.condensed.manifest["source"]["name"],
        protocol=found.protocol.name,
        epochs=found.protocol.epochs,
        networks=found.protocol.networks,
        verdict=found.verdict,
        scores=scores,
        class_names=[*found.condensed.class_names],
        warnings=[*found.warnings],
        not_kept=found.not_kept,
    )
