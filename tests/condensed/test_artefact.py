import contextlib
import hashlib
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch

import lqm
from lqm.condensed import CondensedImages, artefact
from lqm.utils import errors
from lqm.utils.errors import ArtifactError, LqmError


def small_set(seed=0):
    draws = torch.Generator().manual_seed(seed)
    return CondensedImages(
        data=torch.rand(4, 1, 8, 8, generator=draws),
        labels=torch.tensor([0, 0, 1, 1]),
        class_names=("naïve", "two words"),
        manifest={"preprocessing": {"mean": [0.5], "std": [0.25]}, "per_class": 2},
    )


def test_what_is_loaded_is_what_was_saved(tmp_path):
    condensed = small_set()
    condensed.save(tmp_path / "set")
    loaded = lqm.load(tmp_path / "set")
    assert loaded.images.equal(condensed.images)
    assert loaded.labels.equal(condensed.labels)
    assert loaded.class_names == ("naïve", "two words")
    assert loaded.manifest["preprocessing"] == {"mean": [0.5], "std": [0.25]}
    assert loaded.path == tmp_path / "set"


def test_the_dataset_is_ready_to_train_on():
    condensed = small_set()
    images, labels = condensed.dataset().tensors
    torch.testing.assert_close(images, (condensed.images - 0.5) / 0.25)
    assert labels.equal(condensed.labels)


def test_the_manifest_names_the_sha256_of_the_tensors(tmp_path):
    small_set().save(tmp_path / "set")
    data = json.loads((tmp_path / "set" / "manifest.json").read_text())["data"]
    content = (tmp_path / "set" / data["file"]).read_bytes()
    assert data["sha256"] == hashlib.sha256(content).hexdigest()
    assert data["bytes"] == len(content)


def test_a_flipped_byte_anywhere_is_refused(tmp_path):
    small_set().save(tmp_path / "set")
    files = sorted((tmp_path / "set").iterdir())
    assert len(files) == 2
    for path in files:
        content = path.read_bytes()
        for place in range(len(content)):
            for mask in (0x01, 0x80, 0xFF):
                path.write_bytes(content[:place] + bytes([content[place] ^ mask]) + content[place + 1 :])
                with pytest.raises(ArtifactError, match="damaged"):
                    lqm.load(tmp_path / "set")
        path.write_bytes(content)
    lqm.load(tmp_path / "set")


def test_every_truncation_is_refused(tmp_path):
    small_set().save(tmp_path / "set")
    for path in sorted((tmp_path / "set").iterdir()):
        content = path.read_bytes()
        for length in range(len(content)):
            path.write_bytes(content[:length])
            with pytest.raises(ArtifactError, match="damaged"):
                lqm.load(tmp_path / "set")
        path.write_bytes(content)


def test_whitespace_added_by_an_editor_is_refused_too(tmp_path):
    small_set().save(tmp_path / "set")
    manifest = tmp_path / "set" / "manifest.json"
    manifest.write_bytes(manifest.read_bytes() + b"\n")
    with pytest.raises(ArtifactError, match=r"manifest\.json .*seal"):
        lqm.load(tmp_path / "set")


def test_missing_pieces_are_named(tmp_path):
    with pytest.raises(ArtifactError, match=r"no folder .*nothing"):
        lqm.load(tmp_path / "nothing")
    with pytest.raises(ArtifactError, match=f"{tmp_path} .*no condensed set"):
        lqm.load(tmp_path)
    small_set().save(tmp_path / "set")
    (data,) = (tmp_path / "set").glob("data-*")
    data.unlink()
    with pytest.raises(ArtifactError, match=data.name):
        lqm.load(tmp_path / "set")


def test_another_format_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(artefact, "FORMAT", 1)
    small_set().save(tmp_path / "set")
    monkeypatch.undo()
    with pytest.raises(ArtifactError, match=r"format 1\b.* 2 to 5"):
        lqm.load(tmp_path / "set")


def test_saving_again_replaces_the_set_and_leaves_no_remains(tmp_path):
    small_set(0).save(tmp_path / "set")
    small_set(1).save(tmp_path / "set")
    assert lqm.load(tmp_path / "set").images.equal(small_set(1).images)
    assert len(list((tmp_path / "set").iterdir())) == 2


def test_a_crash_while_saving_again_leaves_the_old_set_whole(tmp_path, monkeypatch):
    small_set(0).save(tmp_path / "set")
    write = artefact.write_atomically

    def crash_at_manifest(path, content):
        if path.name == "manifest.json":
            raise KeyboardInterrupt
        write(path, content)

    monkeypatch.setattr(artefact, "write_atomically", crash_at_manifest)
    with pytest.raises(KeyboardInterrupt):
        small_set(1).save(tmp_path / "set")
    assert lqm.load(tmp_path / "set").images.equal(small_set(0).images)


def test_nothing_else_is_overwritten(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("x")
    (tmp_path / "file").write_text("x")
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "data-train.safetensors").write_text("x")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "manifest.json").write_text('{"name": "a web page"}')
    for name in ("notes", "site", "weights", "file"):
        with pytest.raises(ArtifactError, match=f"{tmp_path / name} "):
            small_set().save(tmp_path / name)
    assert (tmp_path / "notes" / "mine.txt").read_text() == "x"
    assert (tmp_path / "site" / "manifest.json").read_text() == '{"name": "a web page"}'


def test_what_a_killed_save_left_is_no_hindrance(tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "data-0123456789ab.safetensors").write_bytes(b"orphan")
    (tmp_path / "set" / ".manifest.json.17.tmp").write_bytes(b"half")
    small_set().save(tmp_path / "set")
    lqm.load(tmp_path / "set")
    assert len(list((tmp_path / "set").iterdir())) == 2


def test_a_score_for_a_set_that_was_replaced_meanwhile_is_refused(tmp_path):
    before = small_set(0).save(tmp_path / "set")
    small_set(1).save(tmp_path / "set")
    with pytest.raises(ArtifactError, match="another set"):
        before.with_score(score("a", 0.1))


def test_normalisation_follows_the_type_of_the_images():
    assert small_set().normalised(torch.rand(1, 1, 8, 8, dtype=torch.float64)).dtype == torch.float64


def test_a_copied_folder_loads(tmp_path):
    small_set().save(tmp_path / "set")
    shutil.copytree(tmp_path / "set", tmp_path / "copy")
    assert lqm.load(tmp_path / "copy").images.equal(small_set().images)


def score(name, accuracy, seed=0):
    return {"protocol": {"name": name}, "seed": seed, "accuracy": accuracy}


def test_a_score_is_kept_and_replaced_by_protocol_and_seed(tmp_path):
    condensed = small_set().save(tmp_path / "set")
    for entry in (score("a", 0.1), score("b", 0.2), score("a", 0.4, seed=1), score("a", 0.3)):
        condensed = condensed.with_score(entry)
    assert lqm.load(tmp_path / "set").manifest["scores"] == [
        score("b", 0.2),
        score("a", 0.4, seed=1),
        score("a", 0.3),
    ]


def test_every_error_of_ours_is_an_lqm_error():
    kinds = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and kind.__module__ == errors.__name__
    ]
    assert len(kinds) > 3
    assert all(issubclass(kind, LqmError) for kind in kinds)


def test_uint8_images_are_normalised_like_the_same_floats():
    manifest = {"preprocessing": {"mean": [0.3], "std": [0.2]}}
    condensed = CondensedImages(torch.rand(2, 1, 4, 4), torch.tensor([0, 1]), ("a", "b"), manifest)
    whole = torch.arange(256, dtype=torch.uint8).view(1, 1, 16, 16)
    torch.testing.assert_close(condensed.normalised(whole), (whole.float() / 255 - 0.3) / 0.2)


def test_images_of_other_channels_are_not_normalised():
    manifest = {"preprocessing": {"mean": [0.3] * 3, "std": [0.2] * 3}}
    condensed = CondensedImages(torch.rand(2, 3, 4, 4), torch.tensor([0, 1]), ("a", "b"), manifest)
    with pytest.raises(LqmError, match=r"\[2, 1, 4, 4\].*\[N, 3, H, W\]"):
        condensed.normalised(torch.rand(2, 1, 4, 4))


def test_a_folder_of_runs_names_one_of_them(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text("{}")
    with pytest.raises(ArtifactError, match=rf"runs.*{tmp_path / 'a'}$"):
        lqm.load(tmp_path)


def test_a_run_that_is_not_finished_says_how_to_go_on(tmp_path):
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(ArtifactError, match=r"run .*command again"):
        lqm.load(tmp_path)
    (tmp_path / "repeat-0" / "memory" / "task-0").mkdir(parents=True)
    with pytest.raises(ArtifactError, match=r"stream .*command again"):
        lqm.load(tmp_path)


def test_saving_the_same_set_again_keeps_the_scores_that_were_noted_meanwhile(tmp_path):
    mine = small_set().save(tmp_path / "set").with_score(score("a", 0.1))
    lqm.load(tmp_path / "set").with_score(score("b", 0.2))
    saved = mine.save(tmp_path / "set")
    assert saved.manifest["scores"] == [score("b", 0.2), score("a", 0.1)]
    assert lqm.load(tmp_path / "set").manifest == saved.manifest | {
        name: lqm.load(tmp_path / "set").manifest[name] for name in ("format", "seal")
    }
    assert "scores" not in small_set(1).save(tmp_path / "set").manifest, "those of other tensors go"


def test_threads_that_note_scores_at_once_lose_none(tmp_path):
    condensed = small_set().save(tmp_path / "set")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: condensed.with_score(score(f"p{n}", n / 100)), range(40)))
    names = {entry["protocol"]["name"] for entry in lqm.load(tmp_path / "set").manifest["scores"]}
    assert names == {f"p{n}" for n in range(40)}
    assert len(list((tmp_path / "set").iterdir())) == 2


def test_names_that_are_no_utf8_do_not_make_a_set_unsaveable(tmp_path):
    odd = replace(small_set(), class_names=("caf\udce9", "two"))
    odd = replace(odd, manifest=odd.manifest | {"origin": {"source": "caf\udce9"}})
    odd.save(tmp_path / "set").with_score(score("a", 0.5))
    assert lqm.load(tmp_path / "set").class_names == ("caf\udce9", "two")
    assert lqm.load(tmp_path / "set").manifest["origin"]["source"] == "caf\udce9"
    (tmp_path / "set" / "manifest.json").read_text(encoding="utf-8")


def test_a_score_for_a_set_that_is_gone_makes_no_folder(tmp_path):
    condensed = small_set().save(tmp_path / "set")
    shutil.rmtree(tmp_path / "set")
    with pytest.raises(ArtifactError, match="no longer there"):
        condensed.with_score(score("a", 0.5))
    assert not (tmp_path / "set").exists()


def test_a_set_can_be_read_while_it_is_replaced_again_and_again(tmp_path):
    small_set(0).save(tmp_path / "set")
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(lambda: [small_set(n % 2).save(tmp_path / "set") for n in range(60)])
        while not writing.done():
            found = lqm.load(tmp_path / "set").images
            assert found.equal(small_set(0).images) or found.equal(small_set(1).images)
        writing.result()


def test_a_score_that_is_noted_while_its_set_is_replaced_never_puts_the_old_one_back(tmp_path):
    small_set(0).save(tmp_path / "set")

    def note():
        for number in range(40):
            with contextlib.suppress(ArtifactError):  # another set is there by now
                lqm.load(tmp_path / "set").with_score(score(f"p{number}", 0.5))

    with ThreadPoolExecutor(2) as pool:
        noting = [pool.submit(note) for _ in range(2)]
        for seed in range(1, 30):
            small_set(seed).save(tmp_path / "set")
            assert lqm.load(tmp_path / "set").images.equal(small_set(seed).images)
        for one in noting:
            one.result()
    assert lqm.load(tmp_path / "set").images.equal(small_set(29).images)
