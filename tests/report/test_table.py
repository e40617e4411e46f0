"""The table of scores holds what `lqm.evaluate` found, and what older versions noted."""

import pytest

import lqm
from lqm.evaluation.scores import together
from lqm.evaluation.table import read_scores


@pytest.fixture(scope="module")
def rows(judged):
    return read_scores([lqm.load(folder) for folder in judged.runs.values()])


def test_a_row_is_what_was_found_by_one_protocol_and_seed_on_one_training_set(rows, judged):
    for number, name in enumerate(judged.runs):
        for seed, evaluation in enumerate(judged.found[name]):
            own = {
                row.training_set: row for row in rows if row.number == number and row.evaluation_seed == seed
            }
            assert own.keys() == evaluation.rows.keys()
            for training_set, score in evaluation.rows.items():
                row = own[training_set]
                for part in ("records", "accuracies", "accuracy", "deviation", "before", "after", "by_class"):
                    assert getattr(row, part) == getattr(score, part)


def test_a_row_says_where_the_set_comes_from_and_how_it_was_made(rows):
    found = {(row.source, row.method, row.distance, row.budget, row.seed, row.network) for row in rows}
    assert found == {
        ("digits", method, distance, 2, 0, "convnet:width=8")
        for method, distance in (("dm", "mean"), ("dm", "lqm"), ("random", None))
    }
    assert len({row.way for row in rows}) == 1


def test_the_manifest_of_an_older_version_is_read(judged):
    condensed = lqm.load(judged.runs["mean"])
    (new,) = (row for row in read_scores([condensed]) if row.training_set == "full")
    for entry in condensed.manifest["scores"]:
        for found in (entry, *entry["baselines"].values()):
            found["images"] = found.pop("records")
            del found["by_class"], found["before"]["by_network"]
    (old,) = (row for row in read_scores([condensed]) if row.training_set == "full")
    assert (old.records, old.accuracies) == (new.records, new.accuracies)
    assert old.by_class == old.before.by_network == ()


def test_scores_that_are_put_together_have_all_networks(rows):
    one, two = (row for row in rows if (row.number, row.training_set) == (1, "condensed"))
    found = together([one, two])
    assert found.accuracies == one.accuracies + two.accuracies
    assert found.before.by_network == one.before.by_network + two.before.by_network
    assert found.by_class == pytest.approx(
        [(a + b) / 2 for a, b in zip(one.by_class, two.by_class, strict=True)]
    )
