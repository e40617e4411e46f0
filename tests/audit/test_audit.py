"""Audits from end to end, on the digits and on a small graph."""

import json
from dataclasses import fields, replace

import pytest
import torch

import lqm
from lqm.condensed.privacy import copies_warning
from lqm.evaluation.audit.attacks import Attack
from lqm.evaluation.audit.statistics import Estimate
from lqm.evaluation.audit.stored import audit_in
from lqm.graphs.domain import GRAPHS
from lqm.graphs.evaluation import PROTOCOLS as GRAPH_PROTOCOLS
from lqm.graphs.evaluation import GraphProtocol
from lqm.images.domain import IMAGES
from lqm.images.evaluation import PROTOCOLS, EvaluationProtocol
from lqm.images.sources import Images
from lqm.utils.errors import ArtifactError, ConfigError, DataError, DivergedError
from tests.condensed.forging import changed

GRAPH = "synthetic:nodes=300,classes=3,features=16"


@pytest.fixture(autouse=True)
def quick(monkeypatch, tiny_protocol):
    monkeypatch.setitem(PROTOCOLS, "tiny", tiny_protocol)
    long = EvaluationProtocol("long", 60, 1, "mlp:width=32", learning_rate=0.1)
    monkeypatch.setitem(PROTOCOLS, "long", long)
    monkeypatch.setitem(GRAPH_PROTOCOLS, "tiny", GraphProtocol("tiny", epochs=5, networks=2))


@pytest.fixture(scope="module")
def small(digits):
    """40 training images and 60 held-out ones, whose labels no image explains."""
    train, test = (
        Images(part.images[:count], torch.arange(count) % 4)
        for part, count in ((digits.train, 40), (digits.test, 60))
    )
    return replace(digits, train=train, test=test, class_names=tuple("abcd"), origin=None)


@pytest.fixture(scope="module")
def noise():
    settings = {"steps": 6, "network": "convnet:width=8", "real_batch": 32, "init": "noise"}
    return lqm.condense("digits", per_class=2, settings=settings, show_progress=False)


def audit(condensed, protocol="tiny", **options):
    return lqm.audit(
        condensed, protocol=protocol, **{"shadows": 0, "references": (), "show_progress": False} | options
    )


def test_random_real_images_are_copies_and_noise_is_not(noise, tmp_path):
    chosen = lqm.condense("digits", method="random", per_class=2, out=tmp_path / "r", show_progress=False)
    found = audit(chosen, references="random,random")
    assert list(found.sets) == ["condensed", "random"]
    copies = found.own.copies
    assert (copies.exact, copies.near, copies.traceable) == (20, 20, 20)
    assert all(gap.nearer.value == 1 for gap in found.own.gaps.values())
    assert found.sets["random"].copies.exact == 20
    assert "20 of 20" in found.verdict
    assert audit_in(lqm.load(tmp_path / "r").manifest) == found
    lines = str(found).splitlines()
    assert lines[0] == found.verdict
    assert lines[-1].startswith("This is no formal guarantee")
    assert len({line.count("|") for line in lines if line.startswith("|")}) == 1
    assert audit(noise).own.copies.near == 0


def test_an_overfitted_network_gives_members_away(small):
    condensed = lqm.condense(small, method="random", per_class=10, show_progress=False)
    found = audit(condensed, "long", source=small)
    assert found.own.attacks["loss"].area.low > 0.7
    assert "loss attack" in " ".join(found.findings)


def test_a_set_of_other_records_gives_nothing_away(small):
    """Made of images that are on neither side: no interval leaves out a guess."""
    others = replace(small, train=Images(small.test.images[40:], small.test.labels[40:]))
    condensed = lqm.condense(others, method="random", per_class=5, show_progress=False)
    kept = replace(small, test=Images(small.test.images[:40], small.test.labels[:40]))
    condensed = replace(condensed, manifest=condensed.manifest | {"source": kept.record})
    found = audit(condensed, "long", source=kept)
    area = found.own.attacks["loss"].area
    assert area.low < 0.5 < area.high
    assert not found.findings
    assert "none of" in found.verdict


def test_shadows_make_a_likelihood_ratio_and_are_kept(small, monkeypatch):
    condensed = lqm.condense(small, method="random", per_class=10, show_progress=False)
    options = {"source": small, "shadows": 8, "steps": 30}
    first = audit(condensed, "long", **options)
    attacks = first.own.attacks
    assert set(attacks) == {"distance, pixels", "loss", "likelihood-ratio", "control"}
    assert attacks["distance, pixels"].area.value == 1
    assert attacks["likelihood-ratio"].area.low > 0.5
    assert attacks["control"].area.low < 0.5 < attacks["control"].area.high

    def refuse(*given, **more):
        raise AssertionError("condensed again")

    monkeypatch.setattr("lqm.api.recondense.learn", refuse)
    assert audit(condensed, "long", **options) == first


def test_canaries_that_were_planted_are_told_from_those_that_were_not(small):
    condensed = lqm.condense(small, method="random", per_class=10, show_progress=False)
    found = audit(condensed, "long", source=small, canaries=20)
    assert found.canaries.records == 20
    assert found.canaries.fitted.low > 0.5
    assert found.canaries.closer.low > 0.5
    assert "canaries" in " ".join(found.findings)


def test_noise_is_condensed_again_as_a_reference(noise):
    found = audit(noise, references="random,noise", steps=2)
    assert list(found.sets) == ["condensed", "random", "noise"]
    assert found.sets["noise"].copies.near == 0


def test_real_nodes_are_copies_whatever_their_length_and_noise_is_not(tmp_path):
    real = lqm.condense(GRAPH, method="random", budget=12, show_progress=False)
    longer = replace(real, data=3 * real.data)
    for condensed in (real, longer):
        assert audit(condensed).own.copies.exact == 12
    noise = lqm.condense(GRAPH, budget=12, settings={"steps": 3, "init": "noise"}, show_progress=False)
    found = audit(noise, shadows=4, canaries=4, references=("noise",), steps=2)
    assert found.own.copies.near == 0
    assert found.own.attacks["likelihood-ratio"].members > 0
    assert found.canaries.records == 4
    assert found.records == "nodes"


def test_real_nodes_are_copies_after_as_many_hops_as_they_were_propagated():
    settings = {"hops": 2}
    real = lqm.condense(GRAPH, method="random", budget=12, settings=settings, show_progress=False)
    assert audit(real).own.copies.exact == 12


def test_a_node_without_features_is_no_copy_of_another():
    source = lqm.load_graph(GRAPH)
    bare = source.graph.features.clone()
    bare[source.train[:5]] = 0
    source = replace(source, graph=replace(source.graph, features=bare), origin=None)
    noise = lqm.condense(source, budget=12, settings={"steps": 3, "init": "noise"}, show_progress=False)
    features = noise.data.clone()
    features[-1] = 0
    found = audit(replace(noise, data=features), source=source)
    assert (found.own.copies.records, found.own.copies.near) == (12, 0)


def test_a_network_by_dp_sgd_stands_beside(small):
    pytest.importorskip("opacus")
    condensed = lqm.condense(small, method="random", per_class=2, show_progress=False)
    found = audit(condensed, source=small, references=("dp",), epsilon=2.0)
    private = found.sets["DP-SGD, epsilon 2"]
    assert private.copies is None
    assert private.attacks["loss"].area.low < 0.5 < private.attacks["loss"].area.high


def test_a_network_that_dp_sgd_can_not_train_is_refused_before_any_work(noise, monkeypatch):
    pytest.importorskip("opacus")
    monkeypatch.setattr("lqm.api.audit_work.Work.measure", lambda *given: pytest.fail("too late"))
    batch = EvaluationProtocol("batch", 3, 1, "convnet:width=8:norm=batch")
    monkeypatch.setitem(PROTOCOLS, "batch", batch)
    with pytest.raises(ConfigError, match="batch"):
        audit(noise, "batch", references=("dp",))


def test_dp_sgd_without_opacus_is_one_sentence(noise, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "opacus", None)
    with pytest.raises(ConfigError, match="opacus"):
        audit(noise, references=("dp",))


@pytest.mark.parametrize(
    ("options", "mentioned"),
    [
        ({"shadows": 3}, "shadows"),
        ({"shadows": -2}, "shadows"),
        ({"shadows": 4.0}, "shadows"),
        ({"shadows": 10**9}, "shadows"),
        ({"seed": 0.5}, "seed"),
        ({"canaries": 2}, "canaries"),
        ({"canaries": 1000}, "355"),
        ({"steps": 0}, "steps"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": "x"}, "epsilon"),
        ({"epsilon": 1e30}, "epsilon"),
        ({"references": 3}, "references"),
        ({"device": 5}, "device"),
        ({"data_dir": 5}, "data_dir"),
        ({"references": "full"}, "reference"),
        ({"protocol": "no"}, "protocol"),
        ({"protocol": 3}, "protocol"),
        ({"epsilon": None}, "epsilon"),
        ({"references": 5}, "references"),
        ({"references": (1,)}, "references"),
        ({"device": 7}, "device"),
        ({"data_dir": 7}, "data_dir"),
        ({"show_progress": "yes"}, "show_progress"),
    ],
)
def test_options_that_can_not_be_used_are_one_sentence(noise, options, mentioned):
    with pytest.raises(ConfigError, match=mentioned):
        audit(noise, **options)


def test_what_can_not_be_condensed_again_is_refused_before_any_network(small, monkeypatch):
    monkeypatch.setattr("lqm.api.audit_work.Work.measure", lambda *given: pytest.fail("too late"))
    chosen = lqm.condense(small, method="random", per_class=10, show_progress=False)
    with pytest.raises(ConfigError, match="noise"):
        audit(chosen, source=small, references=("noise",))
    tight = replace(small, test=Images(small.test.images[:8], small.test.labels[:8]))
    crowded = lqm.condense(tight, method="random", per_class=10, show_progress=False)
    with pytest.raises(ConfigError, match="half of the records"):
        audit(crowded, source=tight, shadows=4)
    own = replace(chosen, manifest=chosen.manifest | {"distance": {"name": "mine"}})
    with pytest.raises(ConfigError, match="mine"):
        audit(own, source=small, shadows=4)


def test_a_set_of_nan_and_networks_that_diverge_are_one_sentence(noise, monkeypatch):
    broken = noise.data.clone()
    broken[0] = torch.nan
    with pytest.raises(DataError, match="NaN"):
        audit(replace(noise, data=broken))
    wild = EvaluationProtocol("wild", 3, 1, "mlp:width=8", learning_rate=1e30)
    monkeypatch.setitem(PROTOCOLS, "wild", wild)
    with pytest.raises(DivergedError, match="wild"):
        audit(noise, "wild")


def test_a_source_that_is_not_the_one_condensed_is_refused(small, noise):
    with pytest.raises(DataError, match="not what this set was condensed from"):
        audit(noise, source=small)


def test_a_graph_without_held_out_nodes_and_dp_sgd_on_nodes_are_refused():
    source = lqm.load_graph(GRAPH)
    bare = replace(source, test=source.test[:0], origin=None)
    condensed = lqm.condense(bare, method="random", budget=6, show_progress=False)
    with pytest.raises(DataError, match="no held-out"):
        audit(condensed, source=bare)
    with pytest.raises(ConfigError, match="is for images"):
        audit(condensed, source=bare, references=("dp",))


def test_the_verdict_says_how_many_tests_told_and_that_one_may_be_chance(noise):
    found = audit(noise)
    told, guess = Estimate(0.6, 0.55, 0.65), Estimate(0.5, 0.4, 0.6)

    def verdict(**areas):
        attacks = {name: Attack(50, 50, area, (None, None)) for name, area in areas.items()}
        own = replace(found.own, gaps={}, attacks=attacks, copies=replace(found.own.copies, traceable=0))
        return replace(found, sets={"condensed": own}).verdict

    assert "none of 2 tests" in verdict(loss=guess, ratio=guess)
    assert "1 of 2 tests" in verdict(loss=told, ratio=guess)
    assert "chance" in verdict(loss=told, ratio=guess)
    assert "2 of 2 tests" in verdict(loss=told, ratio=told)
    assert "chance" not in verdict(loss=told, ratio=told)


def test_the_loss_attack_counts_only_beyond_its_control(noise):
    found = audit(noise)
    area, rate = Estimate(0.52, 0.48, 0.56), Estimate(0.2, 0.15, 0.25)

    def findings(**attacks):
        return replace(found, sets={"condensed": replace(found.own, gaps={}, attacks=attacks)}).findings

    by_rate, plain = (Attack(500, 500, area, (one, None)) for one in (rate, Estimate(0.01, 0, 0.02)))
    assert findings(loss=by_rate, control=plain) == ["the loss attack"]
    assert findings(loss=by_rate, control=by_rate) == []
    by_area = Attack(500, 500, Estimate(0.6, 0.55, 0.65), (None, None))
    assert findings(loss=by_area, control=plain) == ["the loss attack"]
    assert findings(loss=by_area, control=by_area) == []


def test_the_command_says_the_verdict_first_and_that_it_is_no_guarantee(type_in, tmp_path):
    folder = tmp_path / "run"
    lqm.condense("digits", method="random", per_class=1, out=folder, show_progress=False)
    code, printed, error = type_in(
        "audit", folder, "--shadows", 0, "--protocol", "tiny", "--references", "none"
    )
    assert code == 0, error
    assert printed.startswith("10 of 10 images are near copies")
    assert "no formal guarantee" in printed
    assert "…" not in printed
    stored = json.loads((folder / "manifest.json").read_bytes())["audit"]
    assert stored["sets"]["condensed"]["copies"]["exact"] == 10
    assert "no formal guarantee" in stored["guarantee"]
    code, printed, error = type_in("report", folder)
    assert code == 0, error
    page = (folder / "report.html").read_text()
    assert "10 of 10 images are near copies" in page
    assert "no formal guarantee" in page


def test_an_audit_and_a_score_leave_each_other_in_the_manifest(type_in, tmp_path):
    condensed = lqm.condense("digits", method="random", per_class=1, out=tmp_path / "a", show_progress=False)
    audit(condensed)
    lqm.evaluate(tmp_path / "a", protocol="tiny", show_progress=False, baselines=())
    manifest = lqm.load(tmp_path / "a").manifest
    assert manifest["scores"]
    assert audit_in(manifest) is not None
    audit(tmp_path / "a", seed=1)
    again = lqm.load(tmp_path / "a").manifest
    assert again["scores"] == manifest["scores"]
    assert again["audit"]["seed"] == 1


def test_an_audit_that_can_not_be_kept_is_shown_and_fails(type_in, tmp_path, monkeypatch):
    folder = tmp_path / "run\x1b[31m"
    lqm.condense("digits", method="random", per_class=1, out=folder, show_progress=False)
    words = ("audit", folder, "--shadows", 0, "--protocol", "tiny", "--references", "none")
    code, printed, error = type_in(*words)
    assert code == 0, error
    assert "\x1b" not in printed + error

    def refuse(*given):
        raise ArtifactError("the disk is full")

    monkeypatch.setattr("lqm.condensed.condensed_set.write_manifest", refuse)
    code, printed, error = type_in(*words)
    assert code == 1
    assert printed.startswith("10 of 10 images are near copies")
    assert "was not kept" in error
    assert "the disk is full" in error


def test_a_stream_and_its_memory_are_refused(type_in, tmp_path):
    lqm.continual(
        GRAPH,
        method="random",
        budget=4,
        classes_per_task=1,
        settings={"epochs": 2},
        out=tmp_path / "s",
        show_progress=False,
        repeats=1,
    )
    code, _, error = type_in("audit", tmp_path / "s")
    assert code == 1
    assert "stream" in error
    (memory, *_) = sorted((tmp_path / "s").glob("repeat-*/memory/task-*"))
    code, _, error = type_in("audit", memory)
    assert code == 1
    assert "stream" in error


def test_export_warns_in_one_line_of_copies(type_in, tmp_path, tiny):
    def warned(condensed, name):
        condensed.save(tmp_path / name)
        words = ("--to", "npz", "--out", tmp_path / f"{name}-out", "--license", "mit")
        code, _, error = type_in("export", tmp_path / name, *words)
        assert code == 0
        # What is made up here lacks what a dataset card shows of an audit.
        return "".join(line for line in error.splitlines(True) if "written by another version" not in line)

    real = lqm.condense("digits", method="random", per_class=1, show_progress=False)
    assert warned(real, "real").count("\n") == 1
    began = lqm.condense("digits", per_class=1, settings=tiny, show_progress=False)
    assert "lqm audit" in warned(began, "began")
    copies = {"records": 10, "near": 7, "exact": 0, "traceable": 9}
    for near, mentioned in ((7, "7 of 10"), (0, "9 of 10")):
        entry = {"sets": {"condensed": {"copies": copies | {"near": near}}}}
        known = replace(began, manifest=began.manifest | {"audit": entry})
        assert mentioned in warned(known, f"known-{near}")
    forged = {"sets": {"condensed": {"copies": copies | {"near": float("inf")}}}}
    assert "lqm audit" in warned(replace(began, manifest=began.manifest | {"audit": forged}), "forged")
    free = {"sets": {"condensed": {"copies": copies | {"near": 0, "traceable": 0}}}}
    assert warned(replace(began, manifest=began.manifest | {"audit": free}), "free") == ""
    noise = lqm.condense("digits", per_class=1, settings=tiny | {"init": "noise"}, show_progress=False)
    assert warned(noise, "noise") == ""


@pytest.mark.parametrize("domain", [IMAGES, GRAPHS])
def test_every_method_that_chooses_real_records_is_warned_of_and_no_other(domain):
    for name, spec in domain.methods.items():
        warned = copies_warning({"method": name, "settings": {}}, "runs/a")
        assert (warned is None) == ("init" in {field.name for field in fields(spec.settings)}), name


FORGED = {
    "sets": {},
    "sets.condensed.copies": None,
    "sets.condensed.copies.records": 0,
    "sets.condensed.copies.near": 10**6,
    "sets.condensed.gaps.pixels.gap.low": float("nan"),
    "sets.condensed.gaps.pixels.nearer.value": 1e308,
    "sets.random.gaps.pixels.chance": [float("inf"), 1.0],
    "sets.condensed.attacks.loss.rates": [],
}


def test_a_forged_audit_is_left_out_of_the_page_and_of_an_export(type_in, tmp_path):
    condensed = lqm.condense("digits", method="random", per_class=1, out=tmp_path / "a", show_progress=False)
    entry = audit(condensed, references=("random",)).entry()
    assert audit_in({"audit": entry}) is not None
    for path, value in FORGED.items():
        assert audit_in({"audit": changed(path, value, entry)}) is None, path
    condensed.with_audit(changed("sets.condensed.copies.near", float("inf"), entry))
    code, _, error = type_in("report", tmp_path / "a")
    assert code == 0
    assert "audit in the manifest" in error
    endless = {"sets": {"condensed": {"copies": {"near": float("inf"), "traceable": 0, "records": 1}}}}
    assert "lqm audit x" in copies_warning({"settings": {"init": "random"}, "audit": endless}, "x")


def test_an_audit_of_another_version_or_a_forged_one_is_not_shown_and_breaks_nothing(type_in, tmp_path):
    condensed = lqm.condense("digits", method="random", per_class=1, out=tmp_path / "a", show_progress=False)
    entry = audit(condensed).entry()
    own = entry["sets"]["condensed"]
    loss = own["attacks"]["loss"]
    for forged in (
        {"sets": 3},
        entry | {"sets": {}},
        entry | {"sets": {"condensed": own | {"copies": None}}},
        entry | {"sets": {"condensed": own | {"attacks": {"loss": loss | {"rates": []}}}}},
        entry | {"sets": {"condensed": own | {"copies": own["copies"] | {"near": 0, "traceable": 10**299}}}},
    ):
        condensed.with_audit(forged)
        code, _, error = type_in("report", tmp_path / "a")
        assert code == 0, error
        assert "another version" in error
    condensed.with_audit(entry)
    assert "another version" not in type_in("report", tmp_path / "a")[2]


def test_the_verdict_says_how_many_held_out_records_are_as_near(noise):
    found = audit(noise)
    copies = replace(found.own.copies, near=3, near_held_out=0.25)
    assert "25 %" in replace(found, sets={"condensed": replace(found.own, copies=copies)}).verdict
