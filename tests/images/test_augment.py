import pytest
import torch

from lqm.images.augment import OPERATIONS, AugmentationParameters, augment, draw

IMAGES = torch.randn(5, 3, 16, 16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
NUMBERS = {"color": 3, "crop": 2, "cutout": 2, "flip": 1, "scale": 2, "rotate": 1}


def record(operation, *numbers):
    return AugmentationParameters(
        operation, torch.tensor(numbers, dtype=torch.float64).view(-1, NUMBERS[operation])
    )


def random_record(operation, rows=1):
    return draw([operation], torch.Generator().manual_seed(1), rows)


def test_operations_are_those_of_dsa():
    assert "_".join(OPERATIONS) == "color_crop_cutout_flip_scale_rotate"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_one_record_replayed_on_batches_of_any_length_does_the_same_to_each_image(operation):
    shared = random_record(operation)
    together = augment(IMAGES, shared)
    alone = torch.cat([augment(image[None], shared) for image in IMAGES])
    torch.testing.assert_close(together, alone)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_row_a_image_gives_each_its_own_numbers(operation):
    own = random_record(operation, rows=5)
    assert own.parameters.shape == (5, NUMBERS[operation])
    together = augment(IMAGES, own)
    alone = [
        augment(IMAGES[i : i + 1], AugmentationParameters(operation, own.parameters[i : i + 1]))
        for i in range(5)
    ]
    torch.testing.assert_close(together, torch.cat(alone))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_gradients_pass_through(operation):
    images = IMAGES[:2, :, :8, :8].clone().requires_grad_()
    shared = random_record(operation)
    assert torch.autograd.gradcheck(lambda x: augment(x, shared), images)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(("channels", "size"), [(1, 8), (3, 9), (1, 28), (4, 32)])
def test_any_number_of_channels_and_any_size_from_8(operation, channels, size):
    images = torch.randn(2, channels, size, size)
    assert augment(images, random_record(operation)).shape == images.shape


def test_operations_are_drawn_uniformly():
    draws = torch.Generator().manual_seed(0)
    names = [draw(OPERATIONS, draws).operation for _ in range(1200)]
    assert all(150 < names.count(operation) < 250 for operation in OPERATIONS)


def test_color_is_brightness_then_saturation_then_contrast():
    bright = IMAGES + (0.9 - 0.5)
    grey = bright.mean(dim=1, keepdim=True)
    saturated = (bright - grey) * (2 * 0.3) + grey
    level = saturated.mean(dim=(1, 2, 3), keepdim=True)
    expected = (saturated - level) * (0.2 + 0.5) + level
    torch.testing.assert_close(augment(IMAGES, record("color", 0.9, 0.3, 0.2)), expected)


def test_crop_shifts_by_up_to_an_eighth_and_lets_zeros_in():
    torch.testing.assert_close(augment(IMAGES, record("crop", 0.5, 0.5)), IMAGES)
    moved = augment(IMAGES, record("crop", 0.0, 0.999))
    assert moved[:, :, :2].eq(0).all()
    assert moved[:, :, :, -2:].eq(0).all()
    torch.testing.assert_close(moved[:, :, 2:, :-2], IMAGES[:, :, :-2, 2:])


def test_cutout_blanks_a_square_of_half_the_size_clipped_at_the_border():
    ones = torch.ones(1, 1, 16, 16)
    middle = augment(ones, record("cutout", 8.5 / 17, 8.5 / 17))
    assert middle[0, 0, 4:12, 4:12].eq(0).all()
    assert middle.sum() == 16 * 16 - 8 * 8
    corner = augment(ones, record("cutout", 0.0, 0.0))
    assert corner[0, 0, :4, :4].eq(0).all()
    assert corner.sum() == 16 * 16 - 4 * 4


def test_flip_mirrors_left_and_right_half_of_the_time():
    torch.testing.assert_close(augment(IMAGES, record("flip", 0.4)), IMAGES.flip(3))
    torch.testing.assert_close(augment(IMAGES, record("flip", 0.6)), IMAGES)


def test_scale_of_one_and_angle_of_zero_change_nothing():
    unit = (1 - 1 / 1.2) / (1.2 - 1 / 1.2)
    torch.testing.assert_close(augment(IMAGES, record("scale", unit, unit)), IMAGES)
    torch.testing.assert_close(augment(IMAGES, record("rotate", 0.5)), IMAGES)


def test_scale_above_one_shrinks_the_image_and_zeros_enter():
    shrunk = augment(torch.ones(1, 1, 16, 16), record("scale", 0.9999, 0.9999))
    assert shrunk[0, 0, 0].eq(0).all()
    assert shrunk[0, 0, 8, 8] == pytest.approx(1)


def test_rotation_equals_scipy():
    from scipy.ndimage import rotate

    smooth = torch.nn.functional.avg_pool2d(torch.randn(1, 1, 36, 36, dtype=torch.float64), 5, 1)
    found = augment(smooth, record("rotate", 1.0))[0, 0]
    expected = rotate(smooth[0, 0].numpy(), 15, reshape=False, order=1)
    torch.testing.assert_close(found[4:-4, 4:-4], torch.tensor(expected)[4:-4, 4:-4], atol=1e-9, rtol=0)
