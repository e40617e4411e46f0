import pytest
import torch

from lqm.engine import environment, resolve_device
from lqm.utils.errors import ConfigError


def test_auto_is_a_device_that_works():
    torch.ones(1, device=resolve_device("auto"))


@pytest.mark.parametrize("name", ["gpu", "cuda:99", "meta-physical"])
def test_a_device_that_is_not_here_is_refused_in_one_sentence(name):
    with pytest.raises(ConfigError, match=f"device '{name}'"):
        resolve_device(name)


def test_the_record_holds_what_the_last_bits_depend_on():
    record = environment(torch.device("cpu"))
    assert record["threads"] == torch.get_num_threads()
    assert record["torch"] == torch.__version__
