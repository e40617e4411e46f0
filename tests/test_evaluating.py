import re
from dataclasses import replace

import numpy as np
import pytest
import torch

import lqm
from lqm.api.evaluate import score_entry
from lqm.images.evaluation import PROTOCOLS
from lqm.images.networks import NETWORKS
from lqm.utils.errors import ArtifactError, ConfigError, DataError


@pytest.fixture
def judge(monkeypatch, tiny_protocol):
    monkeypatch.setitem(PROTOCOLS, "tiny", tiny_protocol)
    return lambda condensed, **options: lqm.evaluate(
        condensed, **{"baselines": (), "protocol": "tiny", "show_progress": False} | options
    )


@pytest.fixture
def condensed(tiny):
    return lqm.condense("digits", per_class=2, settings=tiny, show_progress=False)


def test_several_kinds_of_networks_give_the_cross_architecture_table(condensed, judge):
    found = judge(condensed, networks=("convnet:width=8", "mlp:width=8"), baselines=("random", "herding"))
    assert list(found.by_network) == ["convnet:width=8", "mlp:width=8"]
    assert list(found.rows) == ["condensed", "random", "herding"]
    scores = found.condensed.manifest["scores"]
    assert [score["protocol"]["network"] for score in scores] == ["convnet:width=8", "mlp:width=8"]
    assert "| convnet width=8 | mlp width=8 |" in str(found)


@pytest.mark.slow
def test_all_networks_of_the_zoo_can_judge(tiny, judge, digits):
    train, test = (
        lqm.Images(part.images[:count], part.labels[:count])
        for part, count in ((digits.train, 200), (digits.test, 40))
    )
    source = replace(digits, train=train, test=test)
    condensed = lqm.condense(source, per_class=2, settings=tiny, show_progress=False)
    found = judge(condensed, source=source, networks=list(NETWORKS))
    assert list(found.by_network) == list(NETWORKS)
    for scores in found.by_network.values():
        first, second = (40 * accuracy for accuracy in scores["condensed"].accuracies)
        assert first == pytest.approx(round(first))
        assert second == pytest.approx(round(second))


def test_a_module_of_the_users_own_judges_by_its_name(condensed, judge):
    def mine(shape, classes):
        return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, classes))

    found = judge(condensed, networks={"linear": mine})
    assert list(found.by_network) == ["own:linear"]
    assert found.condensed.manifest["scores"][0]["protocol"]["network"] == "own:linear"
    assert "linear" in str(found)


def test_mosaics_are_judged_by_their_cells(tiny, judge):
    queue = {"student_batch": 16, "student_steps": 1, "queue_interval": 2, "mosaic": 2}
    condensed = lqm.condense("digits", method="idm", per_class=2, settings=tiny | queue, show_progress=False)
    assert judge(condensed).score.records == 80
    assert condensed.manifest["mosaic"] == 2


def test_the_whole_training_set_is_learned_once_for_all_sets(tiny, judge, monkeypatch):
    sets = [
        lqm.condense("digits", per_class=2, seed=seed, settings=tiny, show_progress=False)
        for seed in range(2)
    ]
    step, steps = torch.optim.SGD.step, []
    monkeypatch.setattr(torch.optim.SGD, "step", lambda *given: (steps.append(1), step(*given))[1])
    judge(sets[0], baselines=("full",))
    # 3 epochs: 20 images in one batch by 2 networks, and 1442 in six batches by 5.
    assert len(steps) == 3 * (2 * 1 + 5 * 6)
    steps.clear()
    judge(sets[1], baselines=("full",))
    assert len(steps) == 3 * 2 * 1


def test_a_set_finds_its_folder_again_or_is_told_where_it_is(tiny, judge, digits, tmp_path):
    pixels = (digits.train.images * 255).byte().numpy()
    np.savez(tmp_path / "mine.npz", images=pixels, labels=digits.train.labels.numpy())
    condensed = lqm.condense(tmp_path / "mine.npz", per_class=2, settings=tiny, show_progress=False)
    expected = judge(condensed).accuracy
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "mine.npz").rename(tmp_path / "elsewhere" / "mine.npz")
    with pytest.raises(DataError, match=r"mine\.npz .*--source"):
        judge(condensed)
    assert judge(condensed, source=tmp_path / "elsewhere" / "mine.npz").accuracy == expected
    (tmp_path / "elsewhere" / "mine.npz").rename(tmp_path / "elsewhere" / "yours.npz")
    assert judge(condensed, source=tmp_path / "elsewhere" / "yours.npz").accuracy == expected


def test_mistakes_are_one_sentence(condensed, judge):
    with pytest.raises(ConfigError, match=r"'herdin'.*'herding'"):
        judge(condensed, baselines=("herdin",))
    with pytest.raises(ConfigError, match=r"'resnet'.*'resnet18'"):
        judge(condensed, networks=("resnet",))


def test_a_network_that_cant_be_made_is_refused_before_any_is_trained(condensed, judge, monkeypatch):
    monkeypatch.setattr(torch.optim.SGD, "step", lambda *_: pytest.fail("a network was trained"))
    with pytest.raises(ConfigError, match="depth"):
        judge(condensed, networks=("convnet:width=4", "convnet:depth=4"))


def test_names_may_be_given_with_commas(condensed, judge):
    found = judge(condensed, networks="mlp:width=4,convnet:width=4", baselines="random")
    assert list(found.by_network) == ["mlp:width=4", "convnet:width=4"]
    assert list(found.rows) == ["condensed", "random"]


def test_what_baselines_scored_is_noted_beside_and_kept_by_a_later_evaluation(condensed, judge, tmp_path):
    saved = condensed.save(tmp_path / "set")
    found = judge(saved, baselines=("random", "full"))
    judge(saved)
    (noted,) = lqm.load(tmp_path / "set").manifest["scores"]
    assert noted["by_class"] == list(found.score.by_class)
    assert list(noted["baselines"]) == ["random", "full"]
    for name, entry in noted["baselines"].items():
        assert entry["accuracies"] == list(found.rows[name].accuracies)
        assert entry["records"] == found.rows[name].records


def test_a_set_scored_by_the_source_at_hand_scores_as_in_an_evaluation(
    tiny, digits, monkeypatch, tiny_protocol
):
    monkeypatch.setitem(PROTOCOLS, "quick-200", tiny_protocol)
    condensed = lqm.condense(digits, per_class=2, settings=tiny, show_progress=False)
    found = lqm.evaluate(condensed, source=digits, show_progress=False, baselines=())
    (noted,) = found.condensed.manifest["scores"]
    assert score_entry(condensed, digits, seed=0, device=torch.device("cpu")) == noted


def test_the_command_fails_after_the_score_when_that_could_not_be_kept(
    condensed, tiny_protocol, monkeypatch, tmp_path, type_in
):
    monkeypatch.setitem(PROTOCOLS, "tiny", tiny_protocol)
    condensed.save(tmp_path / "set")
    words = ("evaluate", tmp_path / "set", "--protocol", "tiny", "--baselines", "none")

    def full(*_):
        raise ArtifactError("the disk is full")

    monkeypatch.setattr("lqm.condensed.condensed_set.write_manifest", full)
    code, printed, error = type_in(*words)
    assert code == 1
    assert "%" in printed, "the score is printed nevertheless"
    assert re.search(r"not kept: the disk is full$", error.strip())
    monkeypatch.undo()
    monkeypatch.setitem(PROTOCOLS, "tiny", tiny_protocol)
    assert type_in(*words)[0] == 0
    assert lqm.load(tmp_path / "set").manifest["scores"]


def test_fewer_networks_than_the_protocols_are_the_first_of_them(condensed, judge):
    one, two = (judge(condensed, repeats=repeats) for repeats in (1, None))
    assert one.protocol.networks == 1
    assert one.score.accuracies == two.score.accuracies[:1]
    assert len(judge(condensed, repeats=3).score.accuracies) == 3
    for wrong in (0, "2", 1.5):
        with pytest.raises(ConfigError, match="repeats"):
            judge(condensed, repeats=wrong)
