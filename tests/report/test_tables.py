import pytest
from rich.console import Console

from lqm.evaluation.latents import LatentMatch
from lqm.evaluation.markdown import score_markdown
from lqm.evaluation.scores import Score, recovery
from lqm.graphs.evaluation import GraphProtocol
from lqm.images.evaluation import EvaluationProtocol
from lqm.report.tables import score_table

PROTOCOL = EvaluationProtocol("quick", epochs=300, networks=2, network="convnet:width=32")


def found(*accuracies):
    return Score(100, accuracies, LatentMatch(0.123, 0.0456), LatentMatch(0.3, 0.0))


ROWS = {"condensed": found(0.8, 0.9), "random": found(0.5, 0.7), "full": found(1.0, 1.0)}


def test_tables_show_scores_with_their_protocol():
    markdown = score_markdown({"convnet:width=32": ROWS}, PROTOCOL)
    assert "| condensed | 100 | 85.0 ± 7.1 | 62.5 | 0.123 | 0.300 | 4.56 | 0.00 |" in markdown
    assert "| random | 100 | 60.0 ± 14.1 | 0.0 |" in markdown
    assert "| full | 100 | 100.0 ± 0.0 | 100.0 |" in markdown
    assert "2 fresh ConvNet-3 of width 32, 300 epochs" in markdown
    assert score_table({"convnet:width=32": ROWS}, PROTOCOL).row_count == 3


def test_recovery_is_the_share_of_the_way_from_random_to_full():
    assert recovery(ROWS["condensed"], ROWS) == pytest.approx((0.85 - 0.6) / (1.0 - 0.6))
    assert recovery(ROWS["condensed"], {"random": ROWS["random"]}) is None
    assert recovery(ROWS["random"], {"random": ROWS["random"], "full": ROWS["random"]}) is None


def test_several_networks_stand_side_by_side():
    markdown = score_markdown({"convnet": ROWS, "resnet18:norm=batch": ROWS}, PROTOCOL)
    assert "| accuracy % by | convnet | resnet18 norm=batch |" in markdown
    assert "| condensed | 85.0 ± 7.1 | 85.0 ± 7.1 |" in markdown
    assert "| recovery of condensed | 62.5 | 62.5 |" in markdown
    assert "2 fresh of each kind" in markdown


def test_no_number_of_many_networks_is_cut_short():
    console = Console(width=80, record=True)
    console.print(score_table(dict.fromkeys(("gcn", "sgc", "gat", "sage", "appnp", "mlp"), ROWS), PROTOCOL))
    text = console.export_text()
    assert text.count("± 7.1") == text.count("85.0") == 6
    assert "…" not in text


def test_a_network_of_the_users_own_is_called_by_its_name():
    assert "2 fresh mine, 300 epochs" in score_markdown({"own:mine": ROWS}, PROTOCOL)


def test_without_random_and_full_there_is_no_recovery_to_show():
    markdown = score_markdown({"convnet": {"condensed": ROWS["condensed"]}}, PROTOCOL)
    assert "recovery" not in markdown
    assert "| condensed | 100 | 85.0 ± 7.1 | 0.123 |" in markdown


def test_nodes_are_called_nodes_and_the_network_by_its_name():
    protocol = GraphProtocol("cat-500", epochs=500, networks=5)
    markdown = score_markdown({"gcn": ROWS}, protocol)
    assert markdown.startswith("| trained on | nodes | accuracy % | recovery % |")
    assert "images" not in markdown
    assert "from random to all real nodes" in markdown
    assert "cat-500: 5 fresh GCN-2 of width 256, 500 epochs each at rate 0.005" in markdown
    assert "full: 3 networks, 500 epochs" in markdown
