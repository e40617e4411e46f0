"""A set whose seal is right may still come from a stranger: every field and number of it is checked."""

import json
import os

import pytest
import torch
from safetensors.torch import save

import lqm
from lqm.utils.errors import ArtifactError, DataError
from lqm.utils.limits import limited_to
from tests.condensed.forging import MANIFEST, changed, forge, images, nodes, seal
from tests.refusing import assert_refused

HUGE = 10**40


def refused(function, folder):
    """The sentence with which a function refuses a folder; empty if it does not."""
    try:
        function(folder)
    except lqm.LqmError as error:
        return str(error)
    return ""


def refusal(folder):
    """The one sentence with which a set is refused."""
    with pytest.raises(ArtifactError) as caught:
        lqm.load(folder)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert "\x1b" not in sentence
    return sentence


def test_a_forged_set_with_nothing_wrong_is_loaded(tmp_path):
    assert lqm.load(forge(tmp_path / "set")).images.equal(images()["images"])
    assert lqm.load(forge(tmp_path / "nodes", tensors=nodes())).edges.equal(nodes()["edges"])


def test_what_a_later_version_may_have_added_is_left_alone(tmp_path):
    more = MANIFEST | {"audit": {"copies": [1, 2]}, "source": MANIFEST["source"] | {"licence": "CC0"}}
    assert lqm.load(forge(tmp_path / "set", more)).manifest["audit"] == {"copies": [1, 2]}


@pytest.mark.parametrize("wrong", [3, "x", None, [], {}, [[]], float("nan"), float("inf"), HUGE, -1, True])
@pytest.mark.parametrize(
    "field",
    [
        *("class_names", "source", "source.name", "method", "distance.name", "per_class", "seed", "settings"),
        *("steps", "origin.source", "evaluation", "evaluation.networks", "seconds", "preprocessing"),
        *("preprocessing.mean", "preprocessing.std", "environment", "scores", "scores.0.protocol"),
        *("scores.0.accuracies", "scores.0.before", "scores.0.before.extremes", "scores.0.records"),
        *("scores.0.baselines", "scores.0.baselines.random", "scores.0.baselines.random.accuracies"),
    ],
)
def test_a_field_of_another_type_is_named_or_does_no_harm(tmp_path, field, wrong):
    """Whatever is loaded can be shown: a report of it is made or refused in a sentence."""
    folder = forge(tmp_path / "set", changed(field, wrong))
    if sentence := refused(lqm.load, folder):
        # The field, or what it does not fit.
        assert field.split(".")[0].replace("_", " ") in sentence.replace("_", " ")
    else:
        assert "\n" not in refused(lqm.write_report, folder)


@pytest.mark.parametrize("field", ["class_names", "data", "data.file", "data.sha256", "format"])
def test_what_every_set_has_must_be_there(tmp_path, field):
    folder = forge(tmp_path / "set")
    whole = json.loads((folder / "manifest.json").read_text()) | {"seal": "0" * 64}
    seal(folder, json.dumps(changed(field, ..., whole)))
    assert field in refusal(folder)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000 + "]" * 100_000,
        '{"a": ' * 900 + "1" + "}" * 900,
        json.dumps([[["deep"]]]),
        "3",
        "null",
        '{"format": 3, "format": [}',
        f'{{"format": 3, "steps": {"9" * 5000}}}',
        f'{{"format": 3, "seed": {"9" * 400}}}',
    ],
    ids=["very deep", "deep", "list", "number", "null", "broken", "long number", "large number"],
)
def test_json_that_no_version_writes_is_one_sentence(tmp_path, text):
    folder = forge(tmp_path / "set")
    # The seal may stand anywhere among the bytes, so that the rest can be any JSON.
    seal(folder, text + '\n"seal": "' + "0" * 64 + '"')
    refusal(folder)
    wrapped = '{"format": 3, "seal": "' + "0" * 64 + '", "settings": ' + text + "}"
    seal(folder, wrapped)
    assert "manifest.json" in refusal(folder)


@pytest.mark.parametrize(
    "name", ["../../x", "/etc/hostname", "", ".", "..", "manifest.json", "data.bin", "a/b"]
)
def test_a_data_file_elsewhere_is_never_opened(tmp_path, name):
    assert "data.file" in refusal(forge(tmp_path / "set", file=name))


def test_a_data_file_that_is_a_link_or_a_pipe_is_refused(tmp_path):
    folder = forge(tmp_path / "set")
    (data,) = folder.glob("data-*")
    data.rename(tmp_path / "elsewhere")
    data.symlink_to(tmp_path / "elsewhere")
    assert "symbolic link" in refusal(folder)
    data.unlink()
    os.mkfifo(data)
    assert "no regular file" in refusal(folder)
    data.unlink()
    data.mkdir()
    assert data.name in refusal(folder)


def test_a_manifest_that_is_a_pipe_or_a_folder_is_refused(tmp_path):
    folder = forge(tmp_path / "set")
    condensed = lqm.load(folder)
    (folder / "manifest.json").unlink()
    os.mkfifo(folder / "manifest.json")
    with pytest.raises(lqm.LqmError, match="no regular file"):
        condensed.save(folder)
    assert "no regular file" in refusal(folder)
    (folder / "manifest.json").unlink()
    (folder / "manifest.json").mkdir()
    assert "manifest.json" in refusal(folder)


def with_value(name, value):
    tensors = images()
    tensors["images"][1, 0, 2, 3] = value
    return tensors | ({} if name is None else {name: tensors["images"]})


@pytest.mark.parametrize(
    ("tensors", "named"),
    [
        (with_value(None, float("nan")), "'images'.*NaN"),
        (with_value(None, float("inf")), "'images'.*infinite"),
        (with_value(None, 1.5), r"'images'.*\[0, 1\]"),
        (with_value(None, -0.1), r"'images'.*\[0, 1\]"),
        (images() | {"images": images()["images"].double()}, "'images'.*float64.*float32"),
        (images() | {"images": (images()["images"] * 255).byte()}, "'images'.*uint8"),
        (images() | {"images": images()["images"][0]}, "'images'.*shape"),
        (images() | {"images": images()["images"][:0], "labels": torch.zeros(0).long()}, "'images'.*shape"),
        (images() | {"labels": torch.zeros(4)}, "'labels'.*float32.*int64"),
        (images() | {"labels": torch.zeros(3).long()}, "'labels'.*shape"),
        (images() | {"labels": torch.tensor([0, 0, 1, 2])}, "'labels'.*2 class names"),
        (images() | {"labels": torch.tensor([0, 0, 1, -1])}, "'labels'.*-1"),
        ({"images": images()["images"]}, "'labels'"),
        ({"other": torch.zeros(2)}, "'features'"),
        (nodes() | {"features": nodes()["features"] / 0}, "'features'.*infinite"),
        (nodes() | {"features": nodes()["features"].long()}, "'features'.*int64"),
        (nodes() | {"labels": torch.tensor([0, 0, 1, -2])}, "'labels'.*-2"),
        (nodes() | {"edges": torch.tensor([[0, 4], [4, 0]])}, "'edges'.*4 nodes"),
        (nodes() | {"edges": torch.tensor([[0, -1], [1, 0]])}, "'edges'.*-1"),
        (nodes() | {"edges": torch.zeros(2, 2)}, "'edges'.*float32"),
        (nodes() | {"edges": torch.zeros(3, 2).long()}, "'edges'.*shape"),
        ({name: tensor for name, tensor in nodes().items() if name != "edges"}, "'edges'"),
    ],
)
def test_tensors_that_do_not_fit_are_named(tmp_path, tensors, named):
    with pytest.raises(ArtifactError, match=rf"data-\w+\.safetensors.*{named}"):
        lqm.load(forge(tmp_path / "set", tensors=tensors))


@pytest.mark.parametrize(
    ("field", "value", "named"), [("mosaic", 9, "mosaic"), ("preprocessing.mean", [0.5] * 3, "mean")]
)
def test_a_manifest_that_does_not_fit_the_tensors_is_refused(tmp_path, field, value, named):
    assert named in refusal(forge(tmp_path / "set", changed(field, value)))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff" * 100,
        (2**40).to_bytes(8, "little") + b"{}",
        (2).to_bytes(8, "little") + b"{}",
        save(images())[:-10],
        b"\x40\x00\x00\x00\x00\x00\x00\x00" + b"[" * 64,
    ],
)
def test_safetensors_that_are_none_are_one_sentence(tmp_path, data):
    assert "data-" in refusal(forge(tmp_path / "set", data=data))


def test_a_set_that_is_larger_than_the_limit_is_not_read(tmp_path):
    folder = forge(tmp_path / "set", data=b"\0" * 2_000_000)
    with limited_to("1MB"), pytest.raises(DataError, match=r"data-\w+\.safetensors.*limit"):
        lqm.load(folder)
    mosaics = forge(tmp_path / "mosaics", MANIFEST | {"mosaic": 8})
    with limited_to("50KB"), pytest.raises(DataError, match="mosaics"):
        lqm.load(mosaics).records()


def test_a_score_of_other_classes_or_a_protocol_that_lacks_a_part_is_one_sentence(tmp_path, type_in):
    for number, (field, value) in enumerate(
        [
            ("scores.0.by_class", [0.5]),
            ("scores.0.protocol.epochs", ...),
            ("scores.0.baselines.random.after", ...),
            ("evaluation.network", ...),
            ("settings", ...),
            ("per_class", ...),
        ]
    ):
        folder = forge(tmp_path / f"set-{number}", changed(field, value))
        lqm.load(folder)
        for command in ("compare", "report", "evaluate", "audit"):
            assert_refused(type_in(command, folder), field.split(".")[-1])


@pytest.mark.parametrize("command", ["evaluate", "audit", "report", "figures"])
def test_a_set_that_says_it_is_of_data_of_another_shape_is_refused(tmp_path, digits, type_in, command):
    source = changed("source", digits.record)
    folder = forge(tmp_path / "set", source)
    code, _, error = type_in(command, folder, *(["--to", tmp_path / "to"] if command == "figures" else []))
    assert code == 1 or command == "figures"
    assert "2 classes" in error
    assert "Traceback" not in error


def test_sets_of_one_source_but_other_shapes_share_no_page(tmp_path, type_in):
    folders = forge(tmp_path / "a"), forge(tmp_path / "b", tensors=nodes())
    assert_refused(type_in("report", *folders), "other shapes")


def test_an_old_set_whose_scores_count_pictures_is_compared(type_in):
    code, printed, _ = type_in("compare", "tests/golden/old/idm2")
    assert code == 0
    assert "58.5" in printed


@pytest.mark.parametrize("field", ["distance", "source", "method", "settings", "steps", "evaluation"])
def test_a_set_that_does_not_say_how_it_was_made_is_no_row_of_a_table(tmp_path, type_in, field):
    folder = forge(tmp_path / "set", changed(field, ...))
    assert_refused(type_in("compare", folder), f".*{field}")


def test_a_set_is_not_saved_where_the_manifest_is_a_pipe(tmp_path):
    condensed = lqm.load(forge(tmp_path / "set"))
    (tmp_path / "other").mkdir()
    os.mkfifo(tmp_path / "other" / "manifest.json")
    with pytest.raises(ArtifactError, match=r"manifest\.json"):
        condensed.save(tmp_path / "other")
