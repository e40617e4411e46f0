import psutil
import pytest

from lqm.utils.errors import ConfigError, DataError
from lqm.utils.limits import limited_to, max_memory, parse_size, require_memory


def test_the_default_is_eight_gib_or_less_on_a_small_machine(monkeypatch):
    monkeypatch.delenv("LQM_MAX_MEMORY", raising=False)
    assert max_memory() == min(8 * 2**30, psutil.virtual_memory().total * 3 // 4)


def test_the_variable_and_then_the_option_have_the_word(monkeypatch):
    monkeypatch.setenv("LQM_MAX_MEMORY", "2GB")
    assert max_memory() == 2 * 2**30
    with limited_to("3GB"):
        assert max_memory() == 3 * 2**30
        with limited_to(None):
            assert max_memory() == 3 * 2**30
    assert max_memory() == 2 * 2**30


def test_what_is_above_the_limit_is_refused_with_what_it_is_and_both_sizes():
    with limited_to("1MB"):
        require_memory(2**20, "'x' of graph.npz")
        with pytest.raises(DataError, match=r"'x' of graph\.npz .* 1 MiB .*--max-memory"):
            require_memory(2**20 + 1, "'x' of graph.npz")
        with pytest.raises(DataError, match="more than 1,000 TiB"):
            require_memory(10**50, "'x' of graph.npz")


@pytest.mark.parametrize("text", ["", "8XB", "-1GB", "0", "nan", "1e9", True, "9" * 40 + "GB"])
def test_an_amount_that_is_none_is_refused(text):
    with pytest.raises(ConfigError, match="amount of memory"):
        parse_size(text)
