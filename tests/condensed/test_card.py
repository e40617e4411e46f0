"""What an export carries beside the records: a dataset card, and facts that programs read."""

import json
import shlex

import pytest
import torch
import yaml

import lqm
from lqm.condensed.export import EXPORTS
from lqm.evaluation.spread import Spread
from lqm.images.evaluation import PROTOCOLS, EvaluationProtocol
from lqm.utils.errors import ArtifactError, ConfigError

TINY = {"steps": 3, "network": "convnet:width=8:depth=1", "real_batch": 16}


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setitem(PROTOCOLS, "quick-200", EvaluationProtocol("quick-200", 2, 3, "convnet:width=8"))
    lqm.condense("digits", per_class=2, settings=TINY, out=tmp_path / "run", seed=7, show_progress=False)
    lqm.evaluate(tmp_path / "run", baselines="random", show_progress=False)
    return tmp_path / "run"


def front_matter(card):
    _, matter, body = card.split("---\n", 2)
    return yaml.safe_load(matter), body


def test_a_folder_has_a_card_with_what_a_user_needs(tmp_path, run):
    folder = lqm.export_set(run, "folder", tmp_path / "digits-2", license="cc-by-4.0")
    matter, body = front_matter((folder / "README.md").read_text())
    assert matter == {
        "license": "cc-by-4.0",
        "pretty_name": "digits, condensed",
        "task_categories": ["image-classification"],
        "size_categories": ["n<1K"],
        "tags": ["dataset-distillation", "dataset-condensation", "synthetic", "lqm"],
        "configs": [{"config_name": "default", "data_files": [{"split": "train", "path": "*/*.png"}]}],
    }
    made = lqm.load(run)
    (entry,) = made.manifest["scores"]
    accuracy = Spread(tuple(entry["accuracies"])).percent()
    for said in (
        f"| condensed | 20 | {accuracy} | quick-200 |",
        "2 epochs each at rate 0.01, mean ± sample standard deviation over 3 networks",
        f"subtract {made.preprocessing['mean'][0]:.4f} from each channel",
        "Labels: hard",
        "Seed: 7; steps: 3",
        'load_dataset("imagefolder", data_files={"train": "digits-2/*/*.png"}, split="train")',
        "began as real records",
        "cc-by-4.0. The terms of the real data",
    ):
        assert said in body
    facts = json.loads((folder / "lqm.json").read_text())
    assert (facts["license"], facts["form"], facts["seed"], facts["records"]) == (
        "cc-by-4.0",
        "folder",
        7,
        20,
    )
    assert facts["scores"] == made.manifest["scores"]
    assert {"data", "seal", "machine"}.isdisjoint({*facts, *facts["environment"]})


def test_the_command_on_the_card_makes_the_same_set(tmp_path, run, type_in):
    card = lqm.export_set(run, "png", tmp_path / "sheet").with_name("sheet.png.README.md").read_text()
    (command,) = [line for line in card.splitlines() if line.startswith("lqm condense")]
    code, _, error = type_in(*shlex.split(command)[1:], "--out", tmp_path / "again")
    assert code == 0, error
    assert lqm.load(tmp_path / "again").images.equal(lqm.load(run).images)


@pytest.mark.parametrize("form", [form for form in EXPORTS if form != "folder"])
def test_a_file_has_its_card_beside_it_and_an_unknown_licence_is_said(tmp_path, run, form):
    path = lqm.export_set(run, form, tmp_path / "out" / "set")
    names = {path.name, f"{path.name}.README.md", f"{path.name}.lqm.json"}
    assert {each.name for each in path.parent.iterdir()} == names
    matter, body = front_matter(path.with_name(f"{path.name}.README.md").read_text())
    assert matter["license"] == "unknown"
    assert "Unknown: none was given" in body


def test_an_earlier_export_is_written_over_only_by_force(tmp_path, run, type_in):
    for form, out in (("folder", "photos"), ("npz", "photos.npz")):
        words = ("export", run, "--to", form, "--out", tmp_path / out)
        assert type_in(*words)[0] == 0
        code, _, error = type_in(*words, "--license", "mit")
        assert code == 1
        assert f"{out} exists already; choose another name, or write over it by --force" in error
        assert type_in(*words, "--license", "mit", "--force")[0] == 0
    assert '"mit"' in (tmp_path / "photos" / "README.md").read_text()
    assert '"mit"' in (tmp_path / "photos.npz.README.md").read_text()
    assert not [each.name for each in tmp_path.iterdir() if each.name.startswith(".")]


def test_force_never_deletes_a_folder_that_is_no_export(tmp_path, run):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_text("years of work")
    for form in ("folder", "npz"):
        out = tmp_path / ("home" if form == "folder" else "home.npz")
        if form == "npz":
            (tmp_path / "home").rename(out)
        with pytest.raises(ArtifactError, match="folder that lqm has not exported"):
            lqm.export_set(run, form, out, force=True)
    assert (tmp_path / "home.npz" / "thesis.tex").read_text() == "years of work"


def test_a_licence_of_several_lines_is_refused(tmp_path, run):
    for wrong in ("mit\n---\n# x", "", 3):
        with pytest.raises(ConfigError, match="license"):
            lqm.export_set(run, "npz", tmp_path / "out", license=wrong)


def test_names_of_classes_can_t_break_the_card(tmp_path):
    made = lqm.CondensedImages(
        torch.rand(2, 1, 8, 8),
        torch.tensor([0, 1]),
        ("a\n---\n# <b>", "[x](y) | `z`"),
        {"preprocessing": {"mean": [0.5], "std": [0.25]}, "source": {"name": 'a"\n- b: c'}},
    )
    card = (lqm.export_set(made, "folder", tmp_path / "out") / "README.md").read_text()
    matter, body = front_matter(card)
    assert matter["pretty_name"] == 'a"\n- b: c, condensed'
    assert "a --- \\# \\<b\\>, \\[x\\](y) \\| \\`z\\`" in body


def test_nodes_have_a_card_too(tmp_path):
    made = lqm.condense(
        "digits-knn", budget=20, settings={"steps": 2, "width": 4}, out=tmp_path / "run", show_progress=False
    )
    path = lqm.export_set(made, "npz", tmp_path / "nodes")
    matter, body = front_matter(path.with_name("nodes.npz.README.md").read_text())
    assert matter["task_categories"] == ["graph-ml"]
    assert "It was not evaluated" in body
    assert "lqm condense digits-knn --method cat" in body


class TestHuggingFace:
    """`datasets` reads what was exported, offline."""

    @pytest.fixture
    def load_dataset(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        datasets = pytest.importorskip("datasets")
        datasets.disable_progress_bars()
        return lambda *words, **options: datasets.load_dataset(
            *words, cache_dir=str(tmp_path / "cache"), split="train", **options
        )

    @pytest.fixture
    def exported(self, tmp_path):
        draws = torch.Generator().manual_seed(0)
        soft = torch.rand(6, 3, generator=draws).softmax(dim=1)
        plain = lqm.CondensedImages(
            torch.rand(6, 3, 8, 8, generator=draws),
            torch.tensor([2, 0, 1, 0, 1, 2]),
            ("train", "cat/dog", "test"),
            {"preprocessing": {"mean": [0.5] * 3, "std": [0.25] * 3}},
        )
        return plain.taught_by(0.02, soft)

    def test_class_folders_are_an_image_folder(self, tmp_path, exported, load_dataset):
        folder = lqm.export_set(exported, "folder", tmp_path / "photos")
        files = {"train": f"{folder}/*/*.png"}
        for data in (load_dataset("imagefolder", data_files=files), load_dataset(str(folder))):
            assert type(data.features["image"]).__name__ == "Image"
            names = data.features["label"].names
            assert names == ["cat_dog", "test", "train"]
            classes = json.loads((folder / "classes.json").read_text())
            assert {entry["folder"] for entry in classes} == set(names)
            assert sorted(data["label"]) == [0, 0, 1, 1, 2, 2]
            assert data[0]["image"].size == (8, 8)

    def test_parquet_has_images_classes_and_soft_labels(self, tmp_path, exported, load_dataset):
        path = lqm.export_set(exported, "parquet", tmp_path / "photos")
        data = load_dataset("parquet", data_files=str(path))
        assert type(data.features["image"]).__name__ == "Image"
        assert data.features["label"].names == ["train", "cat/dog", "test"]
        assert data["label"][:] == exported.labels.tolist()
        assert torch.tensor(data["soft_label"][:]).equal(exported.soft_labels)
        assert data[0]["image"].mode == "RGB"
