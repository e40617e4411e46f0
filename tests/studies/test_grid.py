"""A study as data: which cells a TOML file asks for, and what it can't ask for."""

import tomllib

import pytest

from lqm.studies.files import load_study
from lqm.studies.grid import chosen, read_study
from lqm.utils.errors import ConfigError

GRID = """
title = "A question"
compare = "distance"
against = "mean"

[[paper_scores]]
source = "digits"
distance = "lqm"
accuracy = 97.5

[[cpu.grid]]
source = ["digits", "graphs/cora.npz"]
distance = ["mean", "lqm"]
per_class = [1, 10]
seed = "0..2"
protocol = "quick-200"
settings = { steps = 5, init = ["random", "noise"] }
sketch = { encoders = 4 }

[[paper.grid]]
source = "digits"
distance = "mean"
"""


def study(text=GRID, scale=None):
    return read_study("mine", tomllib.loads(text), scale)


def test_every_combination_of_lists_and_seeds_is_a_cell():
    cells = study().cells
    assert len(cells) == 2 * 2 * 2 * 2 * 3
    assert len({cell.name for cell in cells}) == len(cells)
    assert [cell.seed for cell in cells] == sorted(cell.seed for cell in cells)
    first = cells[0]
    assert first.axes == {"source": "digits", "distance": "mean", "per_class": 1, "init": "random"}
    assert first.settings == {"steps": 5, "init": "random"}
    assert first.evaluation == {"protocol": "quick-200"}
    assert study(scale="paper").head.scale == "paper"
    assert len(study(scale="paper").cells) == 1


def test_an_arm_names_method_and_distance_which_then_are_no_axes():
    grids = [
        {"arm": "ours", "source": ["digits", "mnist"], "method": "dm", "per_class": 1},
        {"arm": "theirs", "source": ["digits", "mnist"], "method": "idm", "distance": "mean", "per_class": 1},
    ]
    content = {"compare": "arm", "against": "theirs", "grid": grids}
    ours, _, theirs, _ = read_study("mine", content).cells
    assert ours.axes == {"source": "digits", "per_class": 1, "arm": "ours"}
    assert theirs.axes == {"source": "digits", "per_class": 1, "arm": "theirs"}
    assert theirs.options == {"source": "digits", "method": "idm", "distance": "mean", "per_class": 1}
    assert theirs.name == "digits-1-theirs-seed-0"
    with pytest.raises(ConfigError, match="two cells"):
        read_study("mine", {"grid": [{"arm": "both", "source": "digits", "distance": ["mean", "lqm"]}]})


def test_what_grids_share_is_written_once_and_a_grid_has_the_last_word():
    shared = """
    [{0}shared]
    source = "digits"
    seed = "0..1"
    settings = {{ steps = 5, init = "noise" }}
    experts = {{ networks = 2, settings = {{ batch = 64 }} }}
    [[{0}grid]]
    arm = "few"
    [[{0}grid]]
    arm = "many"
    seed = 7
    settings = {{ steps = 50 }}
    experts = {{ networks = 3, settings = {{ schedule = "fifths" }} }}
    """
    whole = """
    [[grid]]
    arm = "few"
    source = "digits"
    seed = "0..1"
    settings = { steps = 5, init = "noise" }
    experts = { networks = 2, settings = { batch = 64 } }
    [[grid]]
    arm = "many"
    source = "digits"
    seed = 7
    settings = { steps = 50, init = "noise" }
    experts = { networks = 3, settings = { batch = 64, schedule = "fifths" } }
    """
    expected = study(whole).cells
    assert len(expected) == 3
    assert study(shared.format("")).cells == expected
    assert study(shared.format("cpu."), "cpu").cells == expected


def test_a_source_that_is_a_file_is_called_by_its_name_and_read_from_its_path():
    cell = next(cell for cell in study().cells if cell.axes["source"] == "cora")
    assert cell.options["source"] == "graphs/cora.npz"


def test_a_published_number_belongs_to_the_cells_that_it_names():
    for cell in study().cells:
        fits = cell.axes["source"] == "digits" and cell.axes["distance"] == "lqm"
        assert cell.paper == (97.5 if fits else None)


def test_a_bank_is_of_the_records_and_networks_of_its_cells():
    grid = {
        "source": "mine.npz",
        "augmentation": "crop,flip",
        "size": 16,
        "method": "dm",
        "network": "convnet:width=8",
        "precision": "bf16",
        "per_class": [1, 2],
        "sketch": {"encoders": 4},
    }
    (bank,) = {cell.bank.name: cell.bank for cell in read_study("mine", {"grid": [grid]}).cells}.values()
    assert bank.options == {
        name: value for name, value in grid.items() if name not in ("per_class", "sketch")
    } | {"encoders": 4}


def test_cells_of_one_source_share_a_bank():
    banks = {cell.bank.name: cell.bank for cell in study().cells}
    assert [bank.options["source"] for bank in banks.values()] == ["digits", "graphs/cora.npz"]


def test_a_grid_may_look_at_validation_records_alone():
    grid = {"source": "digits", "method": "dm", "sketch": {"encoders": 4}}
    (usual,), (apart,) = (
        read_study("mine", {"grid": [grid | {"validation": held_out}]}).cells for held_out in (False, True)
    )
    assert (usual.validation, apart.validation) == (False, True)
    assert usual.key != apart.key
    assert apart.bank.options == usual.bank.options | {"validation": True}
    assert apart.bank.name != usual.bank.name


def test_filters_leave_the_cells_that_pass_all_of_them():
    cells = study().cells
    left = chosen(cells, ["source=digits", "per_class=10", "seed=1..2", "init=noise"])
    assert {cell.name for cell in left} == {
        f"digits-{distance}-10-noise-seed-{seed}" for distance in ("mean", "lqm") for seed in (1, 2)
    }
    for wrong in ("sources=digits", "source", "source=mnist", "seed=9", "seed=x"):
        with pytest.raises(ConfigError):
            chosen(cells, [wrong])


def test_a_filter_with_a_value_that_no_cell_has_is_refused_though_another_passes():
    with pytest.raises(ConfigError, match=r"no cell has distance=mena; there is mean, lqm"):
        chosen(study().cells, ["distance=lqm,mena"])


def test_a_value_with_a_comma_is_one_value():
    blocks = [{"source": "digits", "arm": arm, "settings": {"steps": 1}} for arm in ("small", "small, hard")]
    head = {"compare": "arm", "against": "small", "grid": blocks}
    (cell,) = chosen(read_study("mine", head).cells, ["arm=small, hard"])
    assert cell.axes["arm"] == "small, hard"


def test_what_a_cell_is_asked_has_a_key_and_nothing_else_does():
    keys = [cell.key for cell in study().cells]
    assert len(set(keys)) == len(keys)
    same = GRID.replace("97.5", "1.0").replace("encoders = 4 }", "encoders = 4 }\ntune = { steps = [5, 9] }")
    assert [cell.key for cell in study(same).cells] == keys
    assert not {cell.key for cell in study(GRID.replace("steps = 5", "steps = 6")).cells} & {*keys}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("title = 'x'", "grid"),
        ("[[grid]]\nmethod = 'dm'", "source"),
        ("scale = 3\n[[grid]]\nsource = 'digits'", "scale"),
        ("[[grid]]\nsource = 'digits'\nsettings = 3", "settings"),
        ("[[grid]]\nsource = 'digits'\nseed = 'x'", "seed"),
        ("[[grid]]\nsource = ['digits', 'digits']", "digits-seed-0"),
        ("[grid]\nsource = 'digits'", "grid"),
        ("shared = 3\n[[grid]]\nsource = 'digits'", "shared is 3"),
        ("[shared]\nsettings = 3\n[[grid]]\nsource = 'digits'", "settings is 3"),
        ("[shared]\nsource = 'digits'\n[[cpu.grid]]\nseed = 1", r"\[shared\.shared\]"),
    ],
)
def test_what_a_file_lacks_is_named(text, named):
    with pytest.raises(ConfigError, match=named):
        study(text)


def test_an_unknown_scale_study_or_file_is_refused_with_what_there_is(tmp_path):
    with pytest.raises(ConfigError, match="cpu, paper"):
        study(scale="gpu")
    with pytest.raises(ConfigError, match="no study"):
        load_study("no-such-study")
    with pytest.raises(ConfigError, match="there is no"):
        load_study(tmp_path / "gone.toml")
    for content in (b"= broken", b"\xff\xfe"):
        (tmp_path / "bad.toml").write_bytes(content)
        with pytest.raises(ConfigError, match=r"bad\.toml"):
            load_study(tmp_path / "bad.toml")


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("source = 3", "source"),
        ("distance = []", "distance"),
        ("distance = nan", "distance"),
        ("per_class = 1979-05-27", "per_class"),
        ("method = { a = 1 }", "method"),
        ("settings = { steps = [[1]] }", r"settings\.steps"),
        ("tune = { steps = { a = 1 } }", r"tune\.steps"),
        ("sketch = { encoders = 1979-05-27 }", r"sketch\.encoders"),
        ("sketch = { settings = 3 }", r"sketch\.settings"),
        ("networks = [{ a = 1 }]", "networks"),
        ("validation = 'yes'", "validation"),
        ("arm = ['one', 'two']", "arm .* a grid of its own"),
        ("validation = true\ntune = { steps = [1, 2] }", "leave one of them out"),
    ],
)
def test_a_value_of_another_kind_is_named_with_what_would_be_right(line, named):
    source = "" if line.startswith("source") else "source = 'digits'\n"
    with pytest.raises(ConfigError, match=named):
        study(f"[[grid]]\n{source}{line}")


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("paper_scores = 3", "paper_scores"),
        ("paper_scores = [{ source = 'digits' }]", "accuracy"),
        ("paper_scores = [{ accuracy = 'x' }]", "accuracy"),
        ("title = []", "title"),
        ("compare = ['distance']", "compare"),
        ("compare = 'distanse'", "distance"),
        ("against = 'meen'", "mean,lqm"),
    ],
)
def test_what_is_compared_must_be_there(line, named):
    with pytest.raises(ConfigError, match=named):
        study(f"{line}\n[[grid]]\nsource = 'digits'\ndistance = ['mean', 'lqm']")


def test_a_filter_that_leaves_nothing_tells_the_seeds_that_there_are():
    with pytest.raises(ConfigError, match="there is seed=0,1,2"):
        chosen(study().cells, ["seed=9"])


def test_a_grid_of_too_many_cells_is_refused_at_once():
    many = [*range(1000)]
    settings = f"settings = {{ a = {many}, b = {many}, c = {many} }}"
    with pytest.raises(ConfigError, match="more than 100,000 cells"):
        study(f"[[grid]]\nsource = 'digits'\nseed = '0..999'\n{settings}")
