"""Sparse times dense, with SciPy and a dense product as oracles."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array, random_array

from lqm.graphs import matrices
from lqm.graphs.matrices import Matrix

CPU = torch.device("cpu")


def _sparse(rows, columns, density, dtype=np.float32):
    made = random_array((rows, columns), density=density, rng=np.random.default_rng(0), dtype=dtype)
    values = csr_array(made)
    values.data -= 0.5
    return values


@pytest.mark.parametrize("width", [1, 15, 16, 64, 100, 515])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_and_gradients_are_those_of_dense_matrices(width, dtype, monkeypatch):
    monkeypatch.setattr(matrices, "_CACHED", 2**13)  # so that the widest have several blocks
    values = _sparse(40, 70, 0.1, dtype)
    other = torch.from_numpy(np.random.default_rng(1).normal(size=(70, width)).astype(dtype)).requires_grad_()
    found = Matrix(values, CPU) @ other
    np.testing.assert_allclose(found.detach(), values @ other.detach().numpy(), rtol=1e-5, atol=1e-5)
    above = torch.randn_like(found)
    found.backward(above)
    np.testing.assert_allclose(other.grad, values.T @ above.numpy(), rtol=1e-5, atol=1e-5)


def test_rows_without_entries_are_zero():
    values = _sparse(30, 20, 0.02)
    empty = np.diff(values.indptr) == 0
    assert empty[0] or empty[-1] or empty.any()
    assert not (Matrix(values, CPU) @ torch.randn(20, 32))[torch.from_numpy(empty)].any()


def test_a_matrix_without_entries_is_zero():
    found = Matrix(csr_array((5, 7), dtype=np.float32), CPU) @ torch.randn(7, 32)
    assert found.shape == (5, 32)
    assert not found.any()
