"""Images in a file give what the same images in memory give, bit for bit."""

import hashlib

import pytest
import torch

import lqm
from lqm.api.report import real_images
from lqm.engine.compute import Compute
from lqm.images import auditing
from lqm.images.baselines import baseline
from lqm.images.evaluation import IMAGES
from lqm.images.protocols import EvaluationProtocol
from lqm.images.sources import Images, ImageSource
from lqm.methods import samples
from lqm.utils.stored_arrays import LazyArray, StoredArray
from lqm.utils.tensors import TensorFile, save_tensors

NETWORK = "convnet:width=4:depth=2"
COMMON = {"steps": 2, "network": NETWORK}
IDM = {"student_batch": 16, "student_steps": 2, "students": 1, "real_batch": 16}
CASES = {
    "dm": {"settings": COMMON | {"real_batch": 16}},
    "idm": {"settings": COMMON | IDM},
    "dc": {"settings": COMMON | {"real_batch": 16, "outer": 2, "inner": 1}},
    "herding": {"settings": {"steps": 3, "batch": 16, "network": NETWORK}},
    "random": {"settings": {}},
}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The digits in 8 bits, in memory and in a file; the rest of the fields are the same."""
    digits = lqm.load_source("digits")
    train, test = (
        Images((part.images * 255).to(torch.uint8), part.labels) for part in (digits.train, digits.test)
    )
    path = tmp_path_factory.mktemp("stored") / "file.safetensors"
    save_tensors(path, {"train": train.images, "test": test.images})
    file = TensorFile(path, "make it again")
    stored = (Images(file.stored(name), part.labels) for name, part in (("train", train), ("test", test)))
    return [
        ImageSource("digits8", *parts, digits.class_names, augmentation=digits.augmentation)
        for parts in ((train, test), stored)
    ]


def same(found):
    first, second = found
    return first == second


def digest(condensed):
    return hashlib.sha256(condensed.data.numpy().tobytes()).hexdigest()


def test_fingerprint_channels_and_whitening_are_the_same(sources):
    memory, stored = sources
    assert isinstance(stored.train.images, StoredArray)
    assert memory.fingerprint == stored.fingerprint
    assert memory.train.digest == stored.train.digest
    assert memory.preprocessing == stored.preprocessing
    assert memory.whitened().preprocessing == stored.whitened().preprocessing


@pytest.mark.parametrize("method", CASES)
def test_a_condensation_is_the_same(sources, method):
    matching = {"compile": "off"} if method in ("dm", "idm") else {}
    assert same(
        digest(
            lqm.condense(source, method=method, per_class=2, show_progress=False, **matching, **CASES[method])
        )
        for source in sources
    )


def test_experts_and_what_is_learned_by_them_are_the_same(sources, tmp_path):
    found = []
    for number, source in enumerate(sources):
        settings = COMMON | {"student_steps": 2, "expert_epochs": 1, "max_start": 1, "experts": 1}
        settings |= {"init": "random", "classified": True, "real_batch": 64}
        out = tmp_path / f"run{number}"
        made = lqm.condense(
            source, method="mtt", per_class=1, settings=settings, out=out, show_progress=False
        )
        snapshots = sorted(path.name for path in (out / "experts").rglob("*.safetensors"))
        assert len(snapshots) > 1
        found.append((digest(made), made.learning_rate, snapshots))
    assert same(found)


def test_a_sketch_is_the_same(sources, tmp_path):
    found = []
    for number, source in enumerate(sources):
        out = tmp_path / f"sketch{number}"
        settings = {"real_batch": 20, "network": NETWORK}
        lqm.sketch(source, settings=settings, encoders=2, compile="off", out=out, show_progress=False)
        found.append(sorted(path.name for path in out.glob("encoder-*")))
    assert len(found[0]) == 2
    assert same(found), "the name of a shard has the hash of its content"


@pytest.mark.parametrize("name", ["random", "herding", "full"])
@pytest.mark.parametrize("resident", [True, False])
def test_the_accuracy_of_the_full_training_set_and_of_coresets_is_the_same(
    sources, name, resident, monkeypatch
):
    monkeypatch.setattr("lqm.images.training._RESIDENT", 2**24 if resident else 0)
    protocol = EvaluationProtocol("tiny", epochs=1, networks=1, network=NETWORK)
    cpu = torch.device("cpu")

    def found(source):
        find = IMAGES.finder(source, protocol, NETWORK, 0, cpu, name == "full", Compute())
        answer = find(baseline(name, source, 2, 0, NETWORK, cpu)(0), 0)
        return {part: value for part, value in answer.items() if part != "training"}

    assert same(found(source) for source in sources)


def test_what_is_held_out_is_the_same_and_stays_in_the_file(sources):
    first, second = (source.for_validation() for source in sources)
    assert isinstance(second.train.images, LazyArray)
    assert first.fingerprint == second.fingerprint
    assert first.by_class[3][:5].equal(second.by_class[3][:5])


def test_a_class_that_is_too_large_is_sampled_alike(sources, monkeypatch):
    monkeypatch.setattr(samples, "LOOKED_AT", 30)
    own = [
        lqm.condense(
            source.for_validation(), method="k-centre", per_class=3, show_progress=False, **CASES["herding"]
        )
        for source in sources
    ]
    assert same(digest(made) for made in own)


def test_neighbours_and_audits_read_the_same_images(sources):
    found = []
    for source in sources:
        real = real_images(source)
        cells = torch.rand(3, *source.shape, generator=torch.Generator().manual_seed(0))
        distances, places = real.nearest(cells, 4)
        planted = auditing._planted(source, torch.tensor([1, 2]), torch.tensor([0, 1]))
        few = Images(cells, torch.tensor([0, 1, 2]))
        (view,) = auditing._views(few, {}, source)
        rows = view.train.take(torch.tensor([5, 2]))
        found.append([*distances.tolist(), *places.tolist(), planted.fingerprint, rows.tolist()])
    assert same(found)


def test_floats_in_a_file_are_normalised_as_in_memory(tmp_path):
    digits = lqm.load_source("digits")
    images = digits.train.images.clone()
    images[:, :, 0] = 0.25
    save_tensors(tmp_path / "file", {"x": images.repeat(1, 2, 1, 1)})
    stored = Images(TensorFile(tmp_path / "file", "").stored("x"), digits.train.labels)
    memory = Images(stored.images[:], digits.train.labels)
    first, second = (
        ImageSource("x", part, Images(part.images[:9], part.labels[:9]), digits.class_names)
        for part in (memory, stored)
    )
    assert first.mean.numpy() == pytest.approx(second.mean.numpy(), rel=1e-6)
    assert first.std.numpy() == pytest.approx(second.std.numpy(), rel=1e-5)
