"""Shared by the tests of audits: the same draws in every run."""

import pytest
import torch


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)
