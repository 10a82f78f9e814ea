"""The classes of errors."""

from __future__ import annotations

import pickle

import pytest

from baracuda import errors


@pytest.mark.parametrize("name", errors.__all__)
def test_errors_pickle_and_are_what_a_python_user_expects(name):
    cls = getattr(errors, name)
    arguments = {
        "WorkspaceTooSmall": (256, 0, "SumPlan: workspace"),
        "BufferTooSmall": (8, 4),
        "CompileError": ("message", "the log", "/tmp/x.cu"),
        "DriverError": ("message", 700),
    }.get(name, ("message",))
    error = cls(*arguments)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is cls
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)
    assert isinstance(error, errors.BaracudaError)
    if name in ("CompileError", "DriverError"):
        assert isinstance(error, RuntimeError)
    elif name != "BaracudaError":
        assert isinstance(error, ValueError)


def test_too_small_errors_carry_their_sizes():
    error = errors.WorkspaceTooSmall(512, 0)
    assert (error.needed, error.got) == (512, 0)
    assert "512" in str(error)
