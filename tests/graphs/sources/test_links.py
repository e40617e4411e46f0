"""Folders of graphs from someone else, with links in them that lead out."""

import pytest

from lqm.graphs.sources import load_graph
from lqm.utils.errors import DataError
from tests.graphs.sources import test_ogb, test_planetoid, test_reddit

ogb = test_ogb.folder


def lead_out(path, tmp_path):
    """Move a file elsewhere and leave a link in its place."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path.rename(elsewhere / path.name)
    path.symlink_to(elsewhere / path.name)


@pytest.mark.parametrize("part", ["graph", "allx", "ty", "test.index"])
def test_no_file_of_planetoid_is_read_through_a_link_that_leads_out(tmp_path, random, part):
    folder = test_planetoid.make(tmp_path / "cora", random)
    lead_out(folder / f"ind.cora.{part}", tmp_path)
    with pytest.raises(DataError, match=rf"ind.cora.{part} is a link that leads out"):
        load_graph(folder)


def test_a_folder_of_files_may_be_no_link_that_leads_out_either(tmp_path, random):
    test_planetoid.make(tmp_path / "cora" / "raw", random)
    lead_out(tmp_path / "cora" / "raw", tmp_path)
    with pytest.raises(DataError, match="leads out"):
        load_graph(tmp_path / "cora")


@pytest.mark.parametrize("part", ["data", "graph"])
def test_no_file_of_reddit_is_read_through_a_link_that_leads_out(tmp_path, random, part):
    test_reddit.make(tmp_path / "Reddit", random)
    lead_out(tmp_path / "Reddit" / f"reddit_{part}.npz", tmp_path)
    with pytest.raises(DataError, match="leads out"):
        load_graph(tmp_path / "Reddit")


@pytest.mark.parametrize("part", ["raw/node-feat.csv.gz", "split/time", "mapping/labelidx2word.csv.gz"])
def test_no_file_of_ogb_is_read_through_a_link_that_leads_out(ogb, tmp_path, part):
    lead_out(ogb / part, tmp_path)
    with pytest.raises(DataError, match="leads out"):
        load_graph(ogb)


def test_links_that_stay_and_the_path_that_was_typed_are_followed(tmp_path, random):
    folder = test_planetoid.make(tmp_path / "cora", random)
    (folder / "ind.cora.tx").rename(folder / "real")
    (folder / "ind.cora.tx").symlink_to("real")
    (tmp_path / "typed").symlink_to(folder)
    assert load_graph(tmp_path / "typed").graph.nodes == 528
