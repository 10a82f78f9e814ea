"""Packs: what they hold, what they refuse, and that nothing asks for a compiler where one has the kernel."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_runner import run
from small_problems import first_problem, problems

import baracuda
from baracuda import driver
from baracuda.codegen.cli import installation
from baracuda.codegen.cli.compile import chosen_units
from baracuda.compile import loader, nvrtc, source
from baracuda.compile import pack as pack_module
from baracuda.compile.arch import runnable
from baracuda.compile.cache import disk_cache
from baracuda.compile.nvrtc import Artifact
from baracuda.compile.pack import Pack, find, load_pack, loaded_packs, write_pack
from baracuda.compile.unit import Unit
from baracuda.errors import CompileError, Unsupported
from baracuda.tensor import Device

pytestmark = pytest.mark.usefixtures("fresh_cache", "no_packs")

TEXT = 'extern "C" __global__ void first(float* x) { *x = BARACUDA_PROBE; }\n'
UNIT = Unit("probe/first.cu", TEXT, (("BARACUDA_DTYPE", "f32"), ("BARACUDA_PROBE", "1")))
OTHER = replace(UNIT, name="probe/other.cu", text=TEXT.replace("first", "other"))
RECORD = pack_module._RECORD.size
FIELDS = ("key", "checksum", "offset", "length", "kind", "packed")
ABSENT = replace(UNIT, name="probe/absent.cu", text=TEXT.replace("first", "absent"))


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any question to NVRTC ends the test."""

    def ask() -> object:
        raise AssertionError("NVRTC was asked for")

    monkeypatch.setattr(nvrtc, "_nvrtc", ask)


def made(unit: Unit, arch: str) -> Artifact:
    """What a compile might give: bytes that tell unit and target."""
    return Artifact(
        f"{unit.name} for {arch}".encode() * 50, "ptx" if arch.startswith("compute") else "cubin", arch
    )


def write(
    path: Path, *archs: str, units: tuple[Unit, ...] = (UNIT, OTHER), compiler: str = "nvrtc 12.9"
) -> Path:
    write_pack(path, [(unit, made(unit, arch)) for unit in units for arch in archs], compiler)
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a pack for two architectures in a folder with a telling name."""
    folder = tmp_path / "für alle, ß 核"
    folder.mkdir()
    return write(folder / "all kernels.pack", "sm_90", "compute_80")


# What is in it


@pytest.mark.usefixtures("no_compiler")
def test_what_was_put_in_comes_out(file: Path) -> None:
    pack = Pack(file)
    for unit in (UNIT, OTHER):
        for arch in ("sm_90", "compute_80"):
            assert pack.get(unit, arch) == made(unit, arch)
    assert pack.get(ABSENT, "sm_90") is None
    assert pack.get(UNIT, "sm_80") is None
    assert (len(pack), pack.archs, pack.compiler) == (4, ("compute_80", "sm_90"), "nvrtc 12.9")
    assert pack.version == baracuda.__version__
    assert "-ftz=false" in pack.flags
    assert pack.nbytes == file.stat().st_size
    assert "4 kernel files for compute_80, sm_90 by nvrtc 12.9" in repr(pack)


def test_a_pack_can_be_moved_and_read_while_its_name_is_given_away(file: Path, tmp_path: Path) -> None:
    moved = shutil.move(file, tmp_path / "elsewhere.pack")
    pack = Pack(Path(moved))
    Path(moved).unlink()
    write(Path(moved), "sm_120")
    assert pack.get(UNIT, "sm_90") == made(UNIT, "sm_90")


def test_the_same_content_gives_the_same_file(tmp_path: Path) -> None:
    first = write(tmp_path / "a", "sm_90", "sm_80").read_bytes()
    assert write(tmp_path / "b", "sm_80", "sm_90", units=(OTHER, UNIT)).read_bytes() == first


def test_a_pack_is_readable_by_everybody_whom_the_umask_admits(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        assert write(tmp_path / "a", "sm_90").stat().st_mode & 0o777 == 0o644
    finally:
        os.umask(before)


@pytest.mark.usefixtures("no_compiler")
def test_the_compilers_version_is_no_part_of_the_key(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "identity", lambda: "nvrtc 99.9")
    assert Pack(file).get(UNIT, "sm_90") is not None
    for other in (
        replace(UNIT, text=TEXT + " "),
        replace(UNIT, flags=("-fmad=true",)),
        replace(UNIT, defines=(("BARACUDA_DTYPE", "f16"), ("BARACUDA_PROBE", "1"))),
    ):
        assert Pack(file).get(other, "sm_90") is None


# Which entry serves which GPU


@pytest.mark.parametrize(
    ("arch", "available", "served"),
    [
        ("sm_90", ["sm_80", "sm_90", "compute_90"], ["sm_90", "compute_90"]),
        ("sm_90", ["compute_80", "compute_86", "compute_100"], ["compute_86", "compute_80"]),
        ("sm_120", ["sm_90", "compute_80", "compute_100"], ["compute_100", "compute_80"]),
        ("sm_90", ["sm_80", "sm_90a", "compute_90a"], []),
        ("sm_90a", ["sm_90a", "compute_90"], ["sm_90a"]),
        ("compute_90", ["sm_90", "compute_80"], []),
        ("sm_90", [], []),
    ],
)
def test_which_targets_serve_an_architecture(arch: str, available: list[str], served: list[str]) -> None:
    assert runnable(arch, available) == served


@pytest.mark.usefixtures("no_compiler")
def test_the_exact_architecture_comes_first_then_ptx_of_a_lower_one(file: Path, tmp_path: Path) -> None:
    load_pack(file)
    load_pack(write(tmp_path / "more.pack", "sm_80", "compute_86"))

    def target(arch: str) -> str | None:
        found = find(UNIT, arch)
        return found.arch if found else None

    assert [target(arch) for arch in ("sm_90", "sm_80", "sm_86", "sm_120")] == [
        "sm_90",
        "sm_80",
        "compute_86",
        "compute_86",
    ]
    with pytest.raises(Unsupported, match="is no architecture"):
        find(UNIT, "hopper")


# Where it stands in the order: pack, cache, compiler


@pytest.mark.usefixtures("no_compiler")
@pytest.mark.parametrize("jit", ["", "never"])
def test_a_pack_comes_before_cache_and_compiler(
    file: Path, monkeypatch: pytest.MonkeyPatch, jit: str
) -> None:
    monkeypatch.setenv("BARACUDA_JIT", jit)
    load_pack(file)
    assert loader.compile_only(UNIT, "sm_90") == made(UNIT, "sm_90")
    assert loader.compile_only(UNIT, "sm_120") == made(UNIT, "compute_80")
    assert disk_cache().info().entries == 0


def test_what_the_pack_lacks_is_compiled(file: Path) -> None:
    load_pack(file)
    artifact = loader.compile_only(ABSENT, "sm_90")
    assert b"absent" in artifact.data
    assert disk_cache().info().entries == 1


def test_compiling_ahead_looks_at_no_pack(file: Path) -> None:
    load_pack(file)
    assert loader.compile_ahead(UNIT, "sm_90").data[:4] == b"\x7fELF"


@pytest.mark.usefixtures("no_compiler")
def test_what_neither_pack_nor_cache_has_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BARACUDA_JIT", "never")
    monkeypatch.setenv("BARACUDA_PACK", str(file))
    with pytest.raises(CompileError) as caught:
        loader.compile_only(ABSENT, "sm_90")
    message = str(caught.value)
    for part in (
        "probe/absent.cu",
        "f32",
        "sm_90",
        str(file),
        str(disk_cache().folder),
        "BARACUDA_JIT=never",
    ):
        assert part in message
    assert "baracuda-gen compile --arch sm_90 --pack FILE" in message
    monkeypatch.delenv("BARACUDA_PACK")
    with pytest.raises(CompileError, match="a pack \\(none is loaded\\)"):
        loader.compile_only(UNIT, "sm_90")


def test_the_cache_serves_without_a_compiler_whichever_filled_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("nvrtc 12.10", "nvrtc 12.9", "nvrtc 9.0"):
        monkeypatch.setattr(nvrtc, "identity", lambda version=version: version)
        monkeypatch.setattr(
            nvrtc,
            "compile_cubin",
            lambda unit, arch, folder, version=version: Artifact(version.encode(), "cubin", arch),
        )
        loader.compile_only(UNIT, "sm_90")
    loader.compile_only(OTHER, "compute_80")

    def ask() -> object:
        raise AssertionError("NVRTC was asked for")

    monkeypatch.setattr(nvrtc, "_nvrtc", ask)
    monkeypatch.setattr(nvrtc, "identity", ask)
    monkeypatch.setenv("BARACUDA_JIT", "never")
    assert loader.compile_only(UNIT, "sm_90").data == b"nvrtc 12.10"
    assert loader.compile_only(OTHER, "sm_90").arch == "compute_80"
    with pytest.raises(CompileError, match=r"probe/absent\.cu"):
        loader.compile_only(ABSENT, "sm_90")


# The environment


@pytest.mark.usefixtures("no_compiler")
def test_packs_by_environment(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    second = write(tmp_path / "second.pack", "sm_90", units=(ABSENT,))
    monkeypatch.setenv("BARACUDA_PACK", os.pathsep.join([str(file), "", str(second)]))
    assert [pack.path for pack in loaded_packs()] == [file, second]
    assert loader.compile_only(UNIT, "sm_90") == made(UNIT, "sm_90")
    assert loader.compile_only(ABSENT, "sm_90") == made(ABSENT, "sm_90")
    monkeypatch.setenv("BARACUDA_PACK", str(second))
    assert find(UNIT, "sm_90") is None


def test_a_pack_of_the_environment_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BARACUDA_PACK", str(tmp_path / "no.pack"))
    for _ in range(2):
        with pytest.raises(CompileError, match=r"no\.pack cannot be read: No such file"):
            loader.compile_only(UNIT, "sm_90")
    # The error is not remembered: a pack that arrives later is used.
    write(tmp_path / "no.pack", "sm_90")
    assert loader.compile_only(UNIT, "sm_90") == made(UNIT, "sm_90")


def test_load_pack_is_public_and_loads_once(file: Path) -> None:
    assert baracuda.load_pack(str(file)) is baracuda.load_pack(file)
    assert len(loaded_packs()) == 1
    assert len(loaded_packs()[0]) == 4


def test_a_relative_path_outlives_a_change_of_folder(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    assert load_pack(file.name).path == file


PRODUCTION = """
import sys
for name in ("cupy", "cupy_backends"):
    sys.modules[name] = None
import baracuda
from baracuda.compile import loader
from baracuda.compile.unit import Unit
print(loader.compile_only(Unit{unit!r}, "sm_90").data.decode())
"""


def test_production_needs_neither_cupy_nor_nvrtc_to_find_a_kernel(file: Path) -> None:
    code = PRODUCTION.format(unit=(UNIT.name, UNIT.text, UNIT.defines))
    environment = {**os.environ, "BARACUDA_JIT": "never", "BARACUDA_PACK": str(file)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().encode() == made(UNIT, "sm_90").data


# Damage


def flipped(content: bytes, position: int) -> bytes:
    return content[:position] + bytes([content[position] ^ 0x10]) + content[position + 1 :]


def opens_and_reads(path: Path) -> None:
    pack = Pack(path)
    for unit in (UNIT, OTHER):
        for arch in ("sm_90", "compute_80"):
            assert pack.get(unit, arch) == made(unit, arch)


def test_every_flipped_byte_is_noticed_and_names_the_file(file: Path, tmp_path: Path) -> None:
    whole = file.read_bytes()
    line = whole.index(b"\n") + 1
    index = int(whole[:line].split(b" ")[2])
    table = line + index + int(whole[:line].split(b" ")[3]) * RECORD
    # All of the first line, and a sample of facts, table and entries.
    places = [*range(line), *range(line, line + index, 37), *range(line + index, len(whole), 7)]
    assert {place < table for place in places if place >= line + index} == {True, False}
    damaged = tmp_path / "damaged.pack"
    for place in places:
        damaged.write_bytes(flipped(whole, place))
        with pytest.raises(CompileError) as caught:
            opens_and_reads(damaged)
        assert str(damaged) in str(caught.value), place


def test_every_truncation_is_noticed_and_names_the_file(file: Path, tmp_path: Path) -> None:
    whole = file.read_bytes()
    damaged = tmp_path / "damaged.pack"
    for length in [*range(0, len(whole), 41), len(whole) - 1]:
        damaged.write_bytes(whole[:length])
        with pytest.raises(CompileError) as caught:
            Pack(damaged)
        assert str(damaged) in str(caught.value), length


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(lambda whole: b"", "is no pack", id="empty"),
        pytest.param(lambda whole: b"PK\x03\x04" + whole, "is no pack", id="foreign"),
        pytest.param(lambda whole: whole[:-40], "is truncated: it has", id="a few bytes short"),
        pytest.param(lambda whole: whole[:100], "is truncated or damaged: its index", id="half an index"),
        pytest.param(lambda whole: whole + b"\0", "has bytes behind its end", id="too long"),
        pytest.param(
            lambda whole: whole.replace(b"pack 2 ", b"pack 1 ", 1), "has format 1, want 2", id="format"
        ),
        pytest.param(lambda whole: flipped(whole, 200), "is damaged: the checksum of its index", id="index"),
    ],
)
def test_what_is_said_of_a_bad_file(file: Path, content: object, message: str) -> None:
    file.write_bytes(content(file.read_bytes()))  # type: ignore[operator]
    with pytest.raises(CompileError) as caught:
        load_pack(file)
    assert f"pack {file} {message}" in str(caught.value)
    assert loaded_packs() == ()


@pytest.mark.parametrize("count", [0, 10**9])
def test_an_index_larger_than_memory(count: int, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file of holes that is as large as its first line says."""
    length = 10**11 - count * RECORD
    file.write_bytes(b"baracuda-pack 2 %d %d %s\n" % (length, count, b"0" * 64))
    os.truncate(file, 2 * 10**11)
    read = os.pread

    def pread(descriptor: int, length: int, offset: int) -> bytes:
        if length > 10**10:  # Not asked of the system, which may promise what it lacks.
            raise MemoryError
        return read(descriptor, length, offset)

    monkeypatch.setattr(os, "pread", pread)
    with pytest.raises(CompileError, match=re.escape(f"pack {file} cannot be read: no memory for 100000000")):
        Pack(file)
    monkeypatch.setenv("BARACUDA_PACK", str(file))
    (fact,) = installation.pack_facts()
    assert (fact.found, "no memory" in fact.detail) == (False, True)


def with_index(
    file: Path, facts: Callable[[Any], Any] = lambda facts: facts, table: Callable[[bytes], bytes] = bytes
) -> None:
    """Change facts and table of a pack; its line and checksum fit."""
    line, _, rest = file.read_bytes().partition(b"\n")
    magic, form, length, count, _ = line.split(b" ")
    start, end = int(length), int(length) + int(count) * RECORD
    content = facts(json.loads(rest[:start]))
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    index = text + table(rest[start:end])
    checksum = hashlib.sha256(index).hexdigest().encode()
    first = b"%s %s %d %s %s\n" % (magic, form, len(text), count, checksum)
    file.write_bytes(first + index + rest[end:])


def first_entry(**parts: int | bytes) -> Callable[[bytes], bytes]:
    def change(table: bytes) -> bytes:
        entry = dict(zip(FIELDS, pack_module._RECORD.unpack_from(table), strict=True)) | parts
        return pack_module._RECORD.pack(*entry.values()) + table[RECORD:]

    return change


def first_of(pack: Pack) -> tuple[Unit, str]:
    """Return the unit and the target of the first entry of a pack of `write`."""
    keys = {
        bytes.fromhex(pack_module.pack_key(unit, arch)): (unit, arch)
        for unit in (UNIT, OTHER)
        for arch in ("sm_90", "compute_80")
    }
    return keys[pack._key(0)]


SENSELESS = [
    (lambda facts: [facts], "it is a list, want an object"),
    (lambda facts: None, "it is a NoneType, want an object"),
    (lambda facts: b"{]", "no JSON"),
    (lambda facts: b"\xff\xfe", "no JSON"),
    (lambda facts: b"[" * 100_000, "no JSON"),
    (lambda facts: {}, "baracuda is None, want str"),
    (lambda facts: {**facts, "nbytes": True}, "nbytes is True, want int"),
    (lambda facts: {**facts, "flags": {}}, "flags is {}, want list"),
    (lambda facts: {**facts, "archs": [90]}, "archs is [90], want words"),
]


@pytest.mark.parametrize(("change", "text"), SENSELESS)
def test_an_index_that_makes_no_sense(
    file: Path, change: Any, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_index(file, change)
    with pytest.raises(CompileError) as caught:
        load_pack(file)
    assert f"pack {file} has an index that makes no sense: " in str(caught.value)
    assert text in str(caught.value)
    monkeypatch.setenv("BARACUDA_PACK", str(file))
    (fact,) = installation.pack_facts()
    assert (fact.found, text in fact.detail) == (False, True)
    assert run("cache", "info").exit_code == 0


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ({"offset": 2**63}, r"has bytes 9223372036854775808 to \d+ of \d+"),
        ({"length": 10**9}, r"has bytes \d+ to 1000000\d+ of \d+"),
        ({"kind": 3}, "kind 3"),
        ({"packed": 2}, "packed 2"),
    ],
)
def test_an_entry_that_makes_no_sense(file: Path, parts: dict[str, int], text: str) -> None:
    with_index(file, table=first_entry(**parts))
    pack = Pack(file)
    unit, arch = first_of(pack)
    with pytest.raises(CompileError, match=text) as caught:
        pack.get(unit, arch)
    assert f"pack {file} has an index that makes no sense: {unit.name} for {arch} has " in str(caught.value)


def test_an_entry_that_cannot_be_unpacked(file: Path) -> None:
    content = file.read_bytes()
    _, _, length, count, _ = content.partition(b"\n")[0].split(b" ")
    start = content.index(b"\n") + 1 + int(length) + int(count) * RECORD
    checksum = hashlib.sha256(content[start : start + 5]).digest()
    with_index(file, table=first_entry(offset=0, length=5, checksum=checksum, packed=1))
    pack = Pack(file)
    with pytest.raises(CompileError, match=r"is damaged: probe/.* cannot be unpacked: "):
        pack.get(*first_of(pack))


def test_only_what_a_driver_compiles_is_compressed_unless_all_is_to_be(tmp_path: Path) -> None:
    """Machine code is read as it lies: unpacking it takes longer than all else in a `select`."""
    for arch, compress, smaller in (
        ("sm_90", False, False), ("sm_90", True, True), ("compute_80", False, True)
    ):  # fmt: skip
        path = tmp_path / f"{arch} {compress}.pack"
        artifact = made(UNIT, arch)
        write_pack(path, [(UNIT, artifact)], "nvrtc 12.9", compress=compress)
        assert (artifact.data in path.read_bytes()) is not smaller
        assert (path.stat().st_size < len(artifact.data)) is smaller
        assert Pack(path).get(UNIT, arch) == artifact


def test_each_of_thousands_of_entries_is_found_and_nothing_else(tmp_path: Path) -> None:
    """What is at the first and the last place of the table, and what would be before, between and behind."""
    units = [replace(UNIT, text=f"{TEXT}// {number}") for number in range(3000)]
    content = [(unit, Artifact(unit.text.encode(), "cubin", "sm_90")) for unit in units]
    path = tmp_path / "many.pack"
    write_pack(path, content[::2], "nvrtc 12.9")
    pack = Pack(path)
    assert len(pack) == 1500
    for place, (unit, artifact) in enumerate(content):
        assert pack.get(unit, "sm_90") == (None if place % 2 else artifact)


def test_a_damaged_entry_names_its_kernel(file: Path) -> None:
    whole = file.read_bytes()
    file.write_bytes(flipped(whole, len(whole) - 5))
    load_pack(file)
    messages = []
    for unit in (UNIT, OTHER):
        for arch in ("sm_90", "compute_80"):
            try:
                loader.compile_only(unit, arch)
            except CompileError as error:
                messages.append((unit.name, arch, str(error)))
    [(name, arch, message)] = messages
    assert f"pack {file} is damaged: the checksum of {name} for {arch} does not fit" in message
    assert "baracuda-gen compile" in message


def test_a_pack_for_other_headers_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "all_headers_digest", lambda: hashlib.sha256(b"other").hexdigest())
    with pytest.raises(
        CompileError, match=r"was made by baracuda .* with other kernel headers than those of this"
    ):
        load_pack(file)


def test_a_pack_for_other_headers_serves_kernels_that_include_none_of_them(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says for the others why they are not found, rather than let them be compiled unnoticed."""
    monkeypatch.setattr(source, "all_headers_digest", lambda: hashlib.sha256(b"other").hexdigest())
    monkeypatch.setenv(pack_module.PACK_VARIABLE, str(file))
    assert loader.compile_only(UNIT, "sm_90").arch == "sm_90"
    with pytest.raises(CompileError, match=r"with other kernel headers than those of this"):
        loader.compile_only(replace(UNIT, text="#include <baracuda/map.cuh>\n"), "sm_90")


def test_a_folder_in_the_place_of_a_pack(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="cannot be read: Is a directory"):
        load_pack(tmp_path)


def test_a_pipe_or_a_device_in_the_place_of_a_pack(tmp_path: Path) -> None:
    """Nobody waits for a writer that never comes."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero"), Path(os.devnull)):
        with pytest.raises(CompileError, match=f"pack {path} is no file"):
            load_pack(path)


# Many at once


def test_sixteen_threads_read_one_pack(file: Path) -> None:
    pack = load_pack(file)
    barrier = threading.Barrier(16)
    wrong: list[object] = []

    def read(i: int) -> None:
        barrier.wait()
        for _ in range(50):
            unit, arch = (UNIT, OTHER)[i % 2], ("sm_90", "compute_80")[i // 2 % 2]
            if pack.get(unit, arch) != made(unit, arch):
                wrong.append(i)

    threads = [threading.Thread(target=read, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_child_process_reads_a_pack_that_its_parent_opened(file: Path) -> None:
    code = (
        "import os, sys\n"
        "from baracuda.compile import loader, pack\n"
        "from baracuda.compile.unit import Unit\n"
        f"pack.load_pack({str(file)!r})\n"
        "child = os.fork()\n"
        f"data = loader.compile_only(Unit{(UNIT.name, UNIT.text, UNIT.defines)!r}, 'sm_90').data\n"
        f"good = data == {made(UNIT, 'sm_90').data!r}\n"
        "if child == 0: os._exit(not good)\n"
        "sys.exit(not good or os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# The plans' kernels are those that the command compiles


@pytest.mark.parametrize("shared", [99, 163, 227])
def test_every_unit_of_every_plan_is_one_that_compile_packs(
    monkeypatch: pytest.MonkeyPatch, shared: int
) -> None:
    """On devices with as much of shared memory a block, in KiB, as those of sm_86, sm_80 and sm_90."""
    monkeypatch.setattr(driver, "max_shared_memory", lambda _: shared * 1024)
    compiled = {pack_module.pack_key(unit, "sm_90") for unit in chosen_units(None, ())}
    units = [
        unit
        for element in ("f16", "bf16", "f32", "f64")
        for problem in problems(element, every_kind=True)
        for unit in problem.plan._planned(Device("cuda"), problem.desc, None)._units()
    ]
    assert len({pack_module.pack_key(unit, "sm_90") for unit in units}) > 50
    assert {unit.name for unit in units if pack_module.pack_key(unit, "sm_90") not in compiled} == set()


# On a GPU

ON_GPU = """
import sys
sys.path.insert(0, sys.argv[1])
import cupy
from baracuda.compile import nvrtc

def ask():
    raise AssertionError("NVRTC was asked for")

nvrtc._nvrtc = ask
import baracuda
from small_problems import first_problem
problem = first_problem()
plan = problem.select(baracuda.Stream(0, baracuda.Device("cuda")))
arrays = {name: cupy.asarray(array) for name, array in problem.tensors().items()}
space = cupy.empty(max(plan.workspace_size(), 1), cupy.uint8)
plan.run(None, space, problem.plan.ARGS(**arrays))
print(b"".join(arrays[name].get().tobytes() for name in problem.outputs()).hex())
"""


@pytest.mark.cuda
@pytest.mark.parametrize("arch", ["its own", "compute_80"])
def test_a_gpu_runs_from_a_pack_and_never_asks_for_a_compiler(tmp_path: Path, arch: str) -> None:

    target = driver.device_arch(0) if arch == "its own" else arch
    problem = first_problem()
    units = problem.plan._planned(Device("cuda"), problem.desc, None)._units()
    path = tmp_path / "gpu.pack"
    write_pack(path, [(unit, loader.compile_ahead(unit, target)) for unit in units], nvrtc.identity())
    environment = {
        **os.environ,
        "BARACUDA_JIT": "never",
        "BARACUDA_PACK": str(path),
        "BARACUDA_CACHE_DIR": str(tmp_path / "none"),
    }
    command = [sys.executable, "-c", ON_GPU, str(Path(__file__).parent)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    plan, arrays = problem.select(), problem.tensors()
    plan.run(None, problem.workspace(plan), problem.plan.ARGS(**arrays))
    assert done.stdout.strip() == b"".join(arrays[name].tobytes() for name in problem.outputs()).hex()
    assert not (tmp_path / "none").exists()
