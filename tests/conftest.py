"""Options and fixtures that all tests share."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from refusals import Good

    from baracuda.codegen.spec import Op, Spec
    from baracuda.codegen.verify import Backend
    from baracuda.tensor import Device


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--device",
        choices=("host", "cuda"),
        default="host",
        help="where kernels run: the host executor (the default), or the first CUDA device",
    )

    parser.addoption(
        "--full",
        action="store_true",
        help="check layouts, shapes, runs and faults of every op, not of one for each form of kernel, "
        "and in every dtype, where else the dtypes of an op share them; and all of the cases that are alike; "
        "host kernels with the package's flags, not optimised less",
    )


def pytest_configure(config: pytest.Config) -> None:
    from devices import take_all

    # Before collection: making tests of every op to deselect them again takes longer than all else there.
    take_all(config.getoption("--full"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--device") == "cuda":
        return
    skip = pytest.mark.skip(reason="needs a CUDA device: run with --device cuda")
    for item in items:
        if "cuda" in item.keywords:
            item.add_marker(skip)


def pytest_collection_finish() -> None:
    # What was collected stays: no garbage collection need look through it again.
    gc.freeze()


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> Device:
    """Return the device that the tests of this session run on."""
    from baracuda.tensor import Device

    return Device(request.config.getoption("--device"), 0)


@pytest.fixture(scope="session", autouse=True)
def _shared_libraries(request: pytest.FixtureRequest) -> Iterator[None]:
    from devices import plans_share_libraries

    from baracuda.tensor import Device

    # Not by the fixture: some tests have a parameter of its name.
    with plans_share_libraries(Device(request.config.getoption("--device"), 0)):
        yield


@pytest.fixture(scope="session")
def spec() -> Spec:
    """Return the checkout's spec."""
    from devices import checkout_spec

    return checkout_spec()


@pytest.fixture
def backend(request: pytest.FixtureRequest, device: Device) -> Backend:
    """Return what makes and reads arrays on the device; kernels of the test's op and direction are loaded."""
    from devices import load_op, shared_backend

    # Of tests that are parametrised over both.
    params = getattr(getattr(request.node, "callspec", None), "params", {})
    if "op" in params:
        for direction in [params["direction"]] if "direction" in params else params["op"].programs:
            load_op(params["op"].name, direction, device)
    return shared_backend(device.kind)


@pytest.fixture(params=["first", "known"])
def good(request: pytest.FixtureRequest, backend: Backend, op: Op, direction: str) -> Iterator[Good]:
    """Return a call that works; no test that takes it may get as far as a launch.

    Of a plan that ran never before, and of one that knows the call: it may not mistake a spoiled one for it.
    """
    from refusals import good_call

    with good_call(backend, op, direction, known=request.param == "known") as call:
        yield call


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache folder that this test, and processes it starts, use instead of the user's."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("BARACUDA_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def nothing_loaded(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled, kept or loaded yet, and compiling is allowed."""
    from baracuda.compile import loader

    monkeypatch.delenv("BARACUDA_JIT", raising=False)
    monkeypatch.setattr(loader, "_modules", {})


@pytest.fixture
def no_packs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No pack is loaded or named, and compiling is allowed; what the test loads is forgotten behind it."""
    from baracuda.compile import pack

    monkeypatch.delenv("BARACUDA_JIT", raising=False)
    monkeypatch.delenv("BARACUDA_PACK", raising=False)
    monkeypatch.setattr(pack, "_loaded", [])
    pack._named_packs.cache_clear()
    yield
    pack._named_packs.cache_clear()
