"""`lqm import`: a set of others is evaluated, compared, shown, exported and audited like one of ours."""

import re

import pytest
import torch

import lqm
from lqm.api.domains import domain_of_set
from lqm.images.evaluation import PROTOCOLS, EvaluationProtocol


@pytest.fixture
def quick(monkeypatch):
    """The digits' protocols, at a size that takes a second."""
    for name, learned in (("quick-200", False), ("learned-200", True)):
        protocol = EvaluationProtocol(name, 2, 2, "convnet:width=8", learned=learned)
        monkeypatch.setitem(PROTOCOLS, name, protocol)


@pytest.fixture
def saved(tmp_path, digits, monkeypatch):
    """The file of DM's script, in the working directory."""
    monkeypatch.chdir(tmp_path)
    images = torch.cat([own[:2] for own in digits.by_class])
    labels = torch.arange(10).repeat_interleave(2)
    torch.save({"data": [[digits.normalised(images), labels]]}, "res_DM.pt")
    torch.save({"images": images, "labels": 9.0 * torch.eye(10)[labels], "lr": 0.02}, "soft.pt")
    return images


def test_a_set_of_others_goes_through_every_command(type_in, saved, quick, tmp_path):
    code, printed, _ = type_in("import", "res_DM.pt", "--source", "digits", "--normalised", "--out", "theirs")
    assert code == 0
    assert printed.splitlines() == [
        "20 images of 10 classes with hard labels in theirs",
        "next: lqm evaluate theirs",
    ]
    code, printed, _ = type_in("evaluate", "theirs", "--baselines", "random")
    assert code == 0
    assert "quick-200: 2 fresh" in printed
    assert "learning_rate" not in printed.splitlines()[0], "nobody can condense it again"
    made = lqm.load("theirs")
    assert "`lqm import`" in domain_of_set(made).evaluator.remedies_of(made)
    type_in("condense", "digits", "--method", "random", "--per-class", "2", "--out", "ours")
    type_in("evaluate", "ours", "--baselines", "none")
    code, printed, _ = type_in("compare", "theirs", "ours")
    assert code == 0
    (row,) = (line for line in printed.splitlines() if "imported" in line)
    assert (row.split()[3], row.split()[-1]) == ("-", "-")
    code, _, error = type_in("report", "theirs", "ours", "--out", "page.html")
    assert code == 0, error
    page = (tmp_path / "page.html").read_text()
    theirs, ours = re.findall(r"<tr><th scope=\"row\">.*?<td>(imported|random)</td>(.*?)</tr>", page)
    assert (theirs[0], theirs[1].count(">unknown<")) == ("imported", 3)
    assert (ours[0], ours[1].count(">unknown<")) == ("random", 0)
    code, _, error = type_in("export", "theirs", "--to", "npz", "--out", "given")
    assert code == 0
    assert "made elsewhere; `lqm audit theirs --shadows 0`" in error
    card = (tmp_path / "given.npz.README.md").read_text()
    assert "lqm import res_DM.pt --source digits --normalised\n" in card
    assert "% " not in (tmp_path / "theirs" / "manifest.json").read_text()


def test_an_audit_finds_copies_and_says_that_nothing_can_be_condensed_again(type_in, saved, quick):
    type_in("import", "res_DM.pt", "--source", "digits", "--normalised", "--out", "theirs")
    code, _, error = type_in("audit", "theirs")
    assert code == 1
    assert "made elsewhere can't be condensed again; leave them out with --shadows 0" in error
    code, printed, error = type_in("audit", "theirs", "--shadows", "0")
    assert code == 0, error
    assert "20 of 20" in printed
    _, _, error = type_in("export", "theirs", "--to", "png", "--out", "sheet")
    assert "20 of 20 records are near copies" in error


def test_soft_labels_and_a_rate_go_with_the_set(type_in, saved, quick, tmp_path):
    code, printed, _ = type_in("import", "soft.pt", "--source", "digits", "--labels", "soft")
    assert code == 0
    assert "soft labels in runs/digits-imported-soft" in printed
    made = lqm.load("runs/digits-imported-soft")
    assert made.learning_rate == pytest.approx(0.02)
    code, printed, _ = type_in("evaluate", "runs/digits-imported-soft", "--baselines", "none")
    assert code == 0
    assert "learned-200: 2 fresh" in printed


def test_mistakes_are_one_sentence(type_in, saved):
    for words, said in (
        (["soft.pt"], "give --labels soft"),
        (["res_DM.pt"], "--normalised"),
        (["nowhere.pt"], "there is no nowhere.pt"),
        (["res_DM.pt", "--rate", "-1"], "rate"),
    ):
        code, _, error = type_in("import", *words, "--source", "digits")
        assert code == 1
        assert len(error.splitlines()) == 1
        assert said in error
