"""Where synthetic images are brought back to legal pixels, and what a mosaic is at first."""

import pytest
import torch

import lqm
from lqm.condensed.mosaic import expand
from lqm.utils.errors import ConfigError
from tests.images.methods.making import built, problem_of

SMALL = {"steps": 3, "network": "convnet:width=8:depth=2", "real_batch": 20, "learning_rate": 30.0}
# A queue that costs little.
IDM = {"student_steps": 1, "student_batch": 16, "queue_interval": 5, "learning_rate": 5.0}


def limits(source):
    return (source.normalised(torch.full((1, 1), value)) for value in (0.0, 1.0))


@pytest.mark.parametrize(("method", "more"), [("dm", {}), ("idm", IDM), ("dsa", {"outer": 2, "inner": 1})])
def test_images_leave_the_legal_range_while_they_are_matched_and_are_clipped_in_the_result(
    digits, method, more
):
    low, high = limits(digits)
    for clip, leaves in (("each-update", False), ("end", True)):
        run = built(method, problem_of(digits), **SMALL | more, clip=clip)
        for i in range(3):
            run.step(i)
        images = run.synthetic.images.detach()
        assert bool(((images < low - 1e-5) | (images > high + 1e-5)).any()) == leaves
        made = run.result().images
        assert made.min() >= 0
        assert made.max() <= 1
        expected = images.clamp(low, high).flatten(0, 1)
        torch.testing.assert_close(digits.normalised(made), expected, atol=1e-5, rtol=1e-5)


def test_unclipped_images_follow_plain_sgd(digits):
    """Three steps of momentum by hand, along gradients that the update is given."""
    run = built("dm", problem_of(digits), **SMALL, clip="end")
    images = run.synthetic.images
    expected, speed = images.detach().clone(), torch.zeros_like(images)
    for i in range(3):
        gradient = torch.randn(images.shape, generator=torch.Generator().manual_seed(i))
        images.grad = gradient.clone()
        run.synthetic.update()
        speed = 0.5 * speed + gradient
        expected -= 30.0 * speed
    torch.testing.assert_close(images.detach(), expected)


def test_an_unclipped_run_that_is_resumed_ends_the_same(digits, tmp_path):
    options = {"per_class": 1, "show_progress": False, "compile": "off"}
    settings = SMALL | {"clip": "end"}
    whole = lqm.condense(digits, settings=settings | {"steps": 4}, **options)
    for steps in (2, 4):
        resumed = lqm.condense(digits, settings=settings | {"steps": steps}, out=tmp_path / "run", **options)
    assert resumed.images.equal(whole.images)


def test_another_clipping_is_refused(digits):
    with pytest.raises(ConfigError, match=r"clip = 'never'.*'each-update'.*'end'"):
        lqm.condense(digits, settings={"clip": "never"}, show_progress=False)


def test_a_mosaic_may_be_a_whole_real_image_at_first_and_is_cut_all_the_same(digits):
    """The original on TinyImageNet: its mosaics are real images, but what is matched are their quarters."""
    run = built("idm", problem_of(digits, 2), **SMALL | IDM, mosaic_init="whole")
    condensed = run.result()
    assert condensed.images.shape == (20, 1, 8, 8)
    for label in range(10):
        own = condensed.images[condensed.labels == label]
        real = digits.train.of_class(label)
        places = [int((real - image).abs().amax(dim=(1, 2, 3)).argmin()) for image in own]
        torch.testing.assert_close(real[places], own, atol=1e-6, rtol=0)
        assert len(set(places)) == 2
    assert list(run.synthetic.counts) == [8] * 10
    shown = run.synthetic.batch([4]).inputs
    torch.testing.assert_close(shown, expand(digits.normalised(condensed.images[8:10]), 2))
    assert condensed.manifest["mosaic"] == 2
    assert condensed.records()[0].shape == (80, 1, 8, 8)


def test_a_coreset_chooses_as_many_whole_images_as_there_are_mosaics(digits):
    run = built(
        "idm", problem_of(digits, 2), **SMALL | IDM, mosaic_init="whole", init="herding", init_steps=3
    )
    herding = built("herding", problem_of(digits, 2), steps=3, network=SMALL["network"])
    for i in range(3):
        herding.step(i)
    torch.testing.assert_close(run.result().images, herding.result().images)
