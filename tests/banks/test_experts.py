"""A bank of experts as files: extended, mended, refused."""

import json

import pytest

from lqm.api.experts import experts
from lqm.banks import Experts
from lqm.utils.errors import ArtifactError, ConfigError

NETWORK = "convnet:width=4:depth=1"
# Everything random that a training can have.
SETTINGS = {"batch": 200, "augmentation": "color-crop", "cutmix": 0.5}


def make(source, out, networks, epochs, **settings):
    return experts(
        source,
        out=out,
        networks=networks,
        epochs=epochs,
        network=NETWORK,
        settings={**SETTINGS, **settings},
        show_progress=False,
    )


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.glob("snapshot-*.safetensors")}


def test_more_networks_and_more_epochs_keep_what_is_there_and_end_like_one_longer_run(digits, tmp_path):
    out = tmp_path / "grown"
    make(digits, out, 1, 2)
    first = contents(out)
    assert len(first) == 3
    make(digits, out, 2, 2)
    second = contents(out)
    assert first.items() <= second.items()
    bank = make(digits, out, 2, 4)
    third = contents(out)
    assert second.items() <= third.items()
    assert (bank.networks, bank.epochs) == (2, 4)
    straight = make(digits, tmp_path / "straight", 2, 4)
    assert contents(tmp_path / "straight") == third
    assert straight.identity == bank.identity


def test_more_than_20_epochs_have_draws_of_their_own(digits, tmp_path):
    """The draws of the first 20 snapshots are numbered across networks, those of later ones apart."""
    make(digits, tmp_path / "grown", 1, 19, batch=1000)
    make(digits, tmp_path / "grown", 2, 21, batch=1000)
    make(digits, tmp_path / "straight", 2, 21, batch=1000)
    files = contents(tmp_path / "grown")
    assert files == contents(tmp_path / "straight")
    assert len(set(files.values())) == 2 * 22


def test_a_damaged_snapshot_is_refused_then_made_again(digits, tmp_path):
    make(digits, tmp_path, 1, 3)
    before = contents(tmp_path)
    (path,) = tmp_path.glob("snapshot-000000-000002.*")
    spoiled = bytearray(path.read_bytes())
    spoiled[-1] ^= 1
    path.write_bytes(spoiled)
    with pytest.raises(ArtifactError, match=r"snapshot-000000-000002.*lqm experts"):
        Experts(tmp_path).snapshot(0, 2)
    make(digits, tmp_path, 1, 3)
    assert contents(tmp_path) == before


def test_a_schedule_that_ends_takes_more_networks_but_no_more_epochs(digits, tmp_path):
    make(digits, tmp_path, 1, 3, schedule="fifths")
    before = contents(tmp_path)
    with pytest.raises(ConfigError, match=r"fifths.*epochs = 3"):
        make(digits, tmp_path, 1, 4, schedule="fifths")
    assert contents(tmp_path) == before
    assert make(digits, tmp_path, 2, 3, schedule="fifths").networks == 2


def test_other_settings_are_refused(digits, tmp_path):
    make(digits, tmp_path, 1, 1)
    with pytest.raises(ConfigError, match="batch"):
        make(digits, tmp_path, 1, 1, batch=50)
    with pytest.raises(ConfigError, match=r"momentum = 0\.9, not 0\.0"):
        make(digits, tmp_path, 1, 1, momentum=0)


def test_a_bank_of_a_version_with_fewer_settings_is_used_and_goes_on(digits, tmp_path):
    """Settings at what held before they were there are not recorded, so that nothing has changed."""
    make(digits, tmp_path / "bank", 1, 1, momentum=0.9, optimizer="sgd", rho=0.01)
    record = json.loads((tmp_path / "bank" / "run.json").read_text())["config"]["experts"]
    old = ["network", "batch", "learning_rate", "schedule", "augmentation", "cutmix"]
    assert list(record["settings"]) == old
    before = contents(tmp_path / "bank")
    make(digits, tmp_path / "bank", 1, 2)
    assert before.items() <= contents(tmp_path / "bank").items()
    assert Experts(tmp_path / "bank").epochs == 2


def test_what_is_not_as_before_is_recorded(digits, tmp_path):
    make(digits, tmp_path, 1, 1, optimizer="gsam", alpha=1.0)
    record = json.loads((tmp_path / "run.json").read_text())["config"]["experts"]["settings"]
    assert (record["optimizer"], record["alpha"]) == ("gsam", 1.0)
    assert make(digits, tmp_path, 2, 2, optimizer="gsam", alpha=1.0).networks == 2


@pytest.mark.parametrize(
    ("schedule", "missing", "found"),
    [
        ("constant", [(1, 2)], (1, 2)),
        ("constant", [(0, 2), (1, 0), (1, 1), (1, 2)], (1, 1)),
        ("fifths", [(0, 2), (1, 0), (1, 1), (1, 2)], None),
        ("constant", [(0, 1), (0, 2), (1, 0), (1, 1), (1, 2)], None),
    ],
)
def test_networks_count_up_to_the_first_that_is_not_finished(digits, tmp_path, schedule, missing, found):
    make(digits, tmp_path, 2, 2, schedule=schedule)
    for network, epoch in missing:
        (path,) = tmp_path.glob(f"snapshot-{network:06d}-{epoch:06d}.*")
        path.unlink()
    if found is None:
        with pytest.raises(ArtifactError, match=r"not finished.*lqm experts"):
            Experts(tmp_path)
    else:
        bank = Experts(tmp_path)
        assert (bank.networks, bank.epochs) == found


def test_a_folder_without_experts_is_named(tmp_path):
    with pytest.raises(ArtifactError, match=r"experts.*lqm experts"):
        Experts(tmp_path)


def test_the_identity_tells_other_weights_and_other_parts_from_one_another(digits, tmp_path):
    make(digits, tmp_path / "one", 2, 2)
    make(digits, tmp_path / "other", 2, 2, batch=300)
    one, other = (Experts(tmp_path / name) for name in ("one", "other"))
    identities = [
        one.identity,
        other.identity,
        Experts(one.path, 1).identity,
        Experts(one.path, 2, 1).identity,
    ]
    assert len({identity["sha256"] for identity in identities}) == 4
    assert Experts(one.path).identity == one.identity


@pytest.mark.parametrize("missing", [(0, 1), (1, 0), (1, 1)])
def test_a_snapshot_that_is_missing_in_the_middle_is_named_and_made_again(digits, tmp_path, missing):
    make(digits, tmp_path, 2, 2)
    before = contents(tmp_path)
    (path,) = tmp_path.glob("snapshot-{:06d}-{:06d}.*".format(*missing))
    path.unlink()
    with pytest.raises(ArtifactError, match=rf"{path.name.split('.')[0]}\..* is missing.*`lqm experts`"):
        Experts(tmp_path)
    if missing[0] == 1:
        assert Experts(tmp_path, 1).networks == 1
    make(digits, tmp_path, 2, 2)
    assert contents(tmp_path) == before
