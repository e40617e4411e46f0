"""Compiled networks, against the same networks as torch runs them."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from lqm.distances import DISTANCES
from lqm.engine.compute import Compute
from lqm.engine.probes import compile_problem, try_bf16
from lqm.images.methods import METHODS
from lqm.images.networks import (
    Embedding,
    EncoderFactory,
    Logits,
    Network,
    count_activations,
    encoder_factory,
    make_network,
)
from lqm.images.networks.attention import Attention
from lqm.images.networks.encoder import chunk_size
from lqm.images.problem import ImageProblem
from lqm.methods.batch import Batch
from lqm.methods.objectives.gradients import GradientMatching

# Of images of 64x64 or larger, 8 go through a network at once.
SHAPE = (1, 64, 64)
CHUNK = 8
CLOSE = {"atol": 1e-5, "rtol": 1e-4}
CPU = torch.device("cpu")


def network(seed, spec="convnet:width=8:depth=2"):
    torch.manual_seed(seed)
    return make_network(spec, SHAPE, 10)


def images(count, seed=0):
    return torch.randn(count, *SHAPE, generator=torch.Generator().manual_seed(seed))


@pytest.fixture(scope="module")
def compiled():
    """Two readouts, each compiled once for the whole file, and for 8 images."""
    if problem := compile_problem():
        pytest.skip(f"torch can't compile here: {problem}")
    compute = Compute(compile=True)
    return {
        "attention": EncoderFactory(Attention.of(4.0), compute),
        "logits": EncoderFactory(Logits, compute),
    }


def eager(readout, made):
    return EncoderFactory(readout, Compute()).of(made)


def test_compiled_features_and_attention_are_the_eager_ones_and_so_are_the_gradients(compiled):
    made = network(0).requires_grad_(False)
    found, gradients = [], []
    for one in (compiled["attention"].of(made), eager(Attention.of(4.0), made)):
        given = images(CHUNK).requires_grad_()
        parts = one.readouts(given)
        sum((part * (1 + torch.arange(part.shape[1]))).sum() for part in parts).backward()
        found.append(parts)
        gradients.append(given.grad)
    assert len(found[0]) == 2, "a map and the features"
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, **CLOSE)
    torch.testing.assert_close(*gradients, atol=1e-5 * gradients[1].abs().max().item(), rtol=1e-4)
    assert gradients[1].abs().max() > 0


SHALLOW = "convnet:width=8:depth=1"


def learned(one, made):
    """Gradients of the weights by the cross-entropy of a batch."""
    made.zero_grad()
    (logits,) = one.readouts(images(CHUNK))
    F.cross_entropy(logits, torch.arange(CHUNK)).backward()
    return logits.detach(), [parameter.grad.clone() for parameter in made.parameters()]


def test_compiled_logits_are_the_eager_ones_and_so_are_the_gradients_of_the_weights(compiled):
    made = network(0, SHALLOW)
    logits, gradients = learned(compiled["logits"].of(made), made)
    expected, expected_gradients = learned(eager(Logits, made), made)
    torch.testing.assert_close(logits, expected, **CLOSE)
    for ours, theirs in zip(gradients, expected_gradients, strict=True):
        torch.testing.assert_close(ours, theirs, **CLOSE)
    assert all(gradient.abs().max() > 0 for gradient in gradients)


def test_nothing_is_compiled_again_for_other_weights_or_another_network_of_the_kind(compiled):
    first = network(0, SHALLOW)
    ours = compiled["logits"].of(first)
    learned(ours, first)
    stats = torch._dynamo.utils.counters["stats"]
    before = stats["unique_graphs"]
    assert before > 0
    optimizer = torch.optim.SGD(first.parameters(), lr=0.1)
    old, _ = learned(ours, first)
    optimizer.step()
    for made, one in ((first, ours), (network(1, SHALLOW), None)):
        new, _ = learned(one or compiled["logits"].of(made), made)
        torch.testing.assert_close(new, learned(eager(Logits, made), made)[0], **CLOSE)
        assert not torch.allclose(new, old, atol=1e-3), "the weights are seen as they are"
    assert stats["unique_graphs"] == before


def test_a_last_chunk_is_padded_and_that_changes_nothing(compiled):
    made = network(2).requires_grad_(False)
    one = compiled["attention"].of(made)
    whole = images(3 * CHUNK)
    expected = eager(Attention.of(4.0), made).encode(whole)
    full = one.encode(whole)
    before = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    for count in (CHUNK + 1, 2 * CHUNK + 5, 3 * CHUNK - 1):
        for part, all_of_it, theirs in zip(one.encode(whole[:count]), full, expected, strict=True):
            assert len(part) == count
            assert part.equal(all_of_it[:count]), "the other images of a chunk have no say"
            torch.testing.assert_close(part, theirs[:count], **CLOSE)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == before, "no shape of their own"


@pytest.fixture
def sizes(monkeypatch):
    """The batches that networks are given."""
    seen = []
    original = Network.embed
    monkeypatch.setattr(
        Network, "embed", lambda self, images: seen.append(len(images)) or original(self, images)
    )
    return seen


def test_many_images_go_through_in_chunks(sizes):
    made = network(0)
    (found,) = eager(Embedding, made).encode(images(21))
    assert sizes == [8, 8, 5]
    assert not found.requires_grad
    torch.testing.assert_close(found, made.embed(images(21)).detach(), **CLOSE)


def test_a_network_that_normalises_by_its_batch_sees_all_at_once_unless_it_is_in_use(sizes):
    made = network(0, "convnet:width=8:norm=batch")
    eager(Embedding, made).encode(images(21))
    assert sizes == [21]
    sizes.clear()
    eager(Embedding, made.eval()).encode(images(21))
    assert sizes == [8, 8, 5]


@pytest.mark.parametrize(("size", "chunk"), [(8, 512), (32, 32), (64, 8), (224, 8), (16, 128)])
def test_chunks_are_of_few_large_images_or_many_small_ones(size, chunk):
    assert chunk_size(torch.zeros(1, 3, size, size)) == chunk


def test_activations_are_those_of_all_layers_and_the_network_is_left_as_it_was():
    made = network(0)
    found = count_activations(made, SHAPE)
    assert made.training
    assert not any(module._forward_hooks for module in made.modules())
    images, expected = torch.zeros(1, *SHAPE), 0
    for layer in (*made.features, made.classifier):
        images = layer(images)
        expected += images.numel()
    assert found == expected


@pytest.fixture
def pretended(monkeypatch):
    """A torch.compile that changes nothing: what is left is how the weights are handed over."""
    monkeypatch.setattr(torch, "compile", lambda function, dynamic: function)
    encoder_factory.cache_clear()
    yield Compute(compile=True)
    encoder_factory.cache_clear()


def test_networks_that_learn_and_networks_that_are_in_use_do_not_share_compiled_code(digits, pretended):
    """DM's encoders normalise by their batch, those of IDM by what they have learned."""
    common = {"network": "convnet:width=8:norm=batch", "real_batch": 16}
    queue = {"student_steps": 2, "student_batch": 16, "class_weight": 0}
    losses = []
    for compute in (Compute(), pretended):
        problem = ImageProblem(
            class_names=digits.class_names,
            counts=(1,) * 10,
            distance=DISTANCES["mean"],
            seed=0,
            device=CPU,
            source=digits,
            compute=compute,
        )
        dm, idm = (
            METHODS[name].build(problem, METHODS[name].settings(**common, **own))
            for name, own in (("dm", {}), ("idm", queue))
        )
        losses.append([dm.step(0)["loss"], *(idm.step(i)["loss"] for i in range(2))])
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


def test_the_gradient_of_real_images_is_found_in_parts_where_networks_are_compiled(pretended):
    made, shown, sizes = network(0), images(2 * CHUNK + 3), []
    made.classifier.register_forward_pre_hook(lambda module, inputs: sizes.append(len(inputs[0])))
    encoder = EncoderFactory(Logits, pretended).of(made)
    real = Batch(shown, [4], [len(shown)])
    found = GradientMatching().target(encoder, [real], torch.Generator())
    assert sizes == [CHUNK] * 3
    loss = F.cross_entropy(made(shown), torch.full((len(shown),), 4))
    expected = torch.autograd.grad(loss, list(made.parameters()))
    for part, own in zip(found, expected, strict=True):
        torch.testing.assert_close(part, own, **CLOSE)


@pytest.mark.slow
def test_bf16_features_are_within_2_percent():
    if problem := try_bf16("cpu").problem:
        pytest.skip(problem)
    made = network(0, "convnet:width=32").requires_grad_(False)
    exact, rounded = (
        EncoderFactory(Embedding, Compute(precision=word)).of(made) for word in ("fp32", "bf16")
    )
    (expected,), (found,) = exact.encode(images(60)), rounded.encode(images(60))
    assert found.dtype == torch.float32
    difference = (found - expected).norm() / expected.norm()
    assert 1e-5 < difference < 0.02
