"""How growth is measured: which points, once each, and what is made of them."""

import json
import sys

import pytest

from benchmarks.scale.child import run
from benchmarks.scale.growth import AXES, BASE, all_sizes, along, fit, measure_all
from benchmarks.scale.growth_figure import draw


def invented(sizes):
    """Time that grows as classes * width^2, memory as the square root of the budget."""
    seconds = 1e-5 * sizes["classes"] * sizes["width"] ** 2
    return {"sizes": sizes, "seconds": seconds, "memory": sizes["per_class"] ** 0.5, "threads": 1}


def test_each_size_varies_alone_and_the_base_is_measured_once():
    sizes = all_sizes()
    assert sizes.count(BASE) == 1
    assert len(sizes) == 1 + sum(len(values) - 1 for _, values in AXES.values())
    assert all(sum(one[axis] != BASE[axis] for axis in BASE) <= 1 for one in sizes)


def test_the_exponent_of_a_power_is_found():
    exponent, factor = fit([1, 2, 5], [3 * value**1.5 for value in (1, 2, 5)])
    assert exponent == pytest.approx(1.5)
    assert factor == pytest.approx(3)


def test_exponents_are_those_along_one_size(tmp_path):
    points = measure_all(tmp_path / "growth.json", invented)
    found = {axis: fit(*along(points, axis, "seconds"))[0] for axis in AXES}
    expected = {"classes": 1, "real_batch": 0, "size": 0, "per_class": 0, "width": 2}
    assert found == pytest.approx(expected, abs=1e-9)
    assert fit(*along(points, "per_class", "memory"))[0] == pytest.approx(0.5)


def test_measured_points_are_not_measured_again(tmp_path):
    path = tmp_path / "growth.json"
    asked = []

    def stopped_after_three(sizes):
        if len(asked) == 3:
            raise KeyboardInterrupt
        asked.append(sizes)
        return invented(sizes)

    with pytest.raises(KeyboardInterrupt):
        measure_all(path, stopped_after_three)
    assert len(json.loads(path.read_text())) == 3

    def rest(sizes):
        asked.append(sizes)
        return invented(sizes)

    measure_all(path, rest)
    assert asked == all_sizes()


def test_the_figure_is_an_image(tmp_path):
    draw(measure_all(tmp_path / "growth.json", invented), tmp_path / "growth.png")
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")


def test_the_peak_is_that_of_the_process_with_what_it_freed():
    code = "import sys; block = b'1' * (int(sys.argv[1]) * 2**20); del block; print('done')"
    small, large = (run([sys.executable, "-c", code, size], keep_output=True) for size in ("1", "400"))
    assert small.output == large.output == "done\n"
    # The larger of this process and of the block: a process begins at its parent's size.
    assert large.peak >= 400 / 1024
    assert large.peak >= small.peak


def test_a_process_that_fails_ends_the_measurement():
    with pytest.raises(SystemExit, match="failed"):
        run([sys.executable, "-c", "raise SystemExit(2)"])
