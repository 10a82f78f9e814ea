"""Writing and checking generated trees."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from baracuda.codegen import tree
from baracuda.codegen.tree import ForeignFileError, check_tree, write_tree


def make_tree(**texts: str) -> dict[str, str]:
    """Return a tree with a manifest; `a__b` stands for the path `a/b.cu`."""
    files = {name.replace("__", "/") + ".cu": text for name, text in texts.items()}
    files["manifest.json"] = json.dumps({"files": sorted([*files, "manifest.json"])})
    return files


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def kinds(files: dict[str, str], out: Path) -> dict[str, str]:
    return {difference.path: difference.kind for difference in check_tree(files, out)}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "generated tree ü"


def test_what_is_written_is_current(out: Path) -> None:
    files = make_tree(kernels__lerp="// ü\nx\n", top="y\n")
    written = write_tree(files, out)
    assert written.changed == tuple(sorted(files))
    assert written.removed == ()
    assert (out / "kernels/lerp.cu").read_bytes() == "// ü\nx\n".encode()
    assert check_tree(files, out) == []


def test_line_ends_are_lf(out: Path) -> None:
    files = make_tree(a="one\r\ntwo\r\n")
    write_tree(files, out)
    assert (out / "a.cu").read_bytes() == b"one\ntwo\n"
    assert check_tree(files, out) == []


def test_equal_files_keep_their_time_stamp(out: Path) -> None:
    write_tree(make_tree(a="1\n", b="1\n"), out)
    for path in out.rglob("*.cu"):
        os.utime(path, ns=(1_000, 1_000))
    written = write_tree(make_tree(a="1\n", b="2\n"), out)
    assert written.changed == ("b.cu",)
    assert (out / "a.cu").stat().st_mtime_ns == 1_000
    assert (out / "b.cu").stat().st_mtime_ns != 1_000


def test_a_second_run_touches_nothing(out: Path) -> None:
    files = make_tree(kernels__a="1\n")
    write_tree(files, out)
    before = snapshot(out)
    assert write_tree(files, out) == tree.Written()
    assert snapshot(out) == before
    assert [path.name for path in out.parent.iterdir()] == [out.name]


def test_check_reports_each_kind(out: Path) -> None:
    write_tree(make_tree(same="1\n", gone="1\n", edited="old\n", deleted="1\n"), out)
    (out / "deleted.cu").unlink()
    (out / "notes.md").write_text("mine\n")
    found = check_tree(make_tree(same="1\n", edited="new\n", deleted="1\n"), out)
    assert {difference.path: difference.kind for difference in found} == {
        "deleted.cu": "missing",
        "edited.cu": "changed",
        "gone.cu": "stale",
        "manifest.json": "changed",
        "notes.md": "foreign",
    }
    diffs = {difference.path: difference.diff for difference in found}
    assert diffs["edited.cu"].splitlines()[:2] == ["--- a/edited.cu", "+++ b/edited.cu"]
    assert "-old\n+new\n" in diffs["edited.cu"]
    assert diffs["deleted.cu"].startswith("--- /dev/null\n+++ b/deleted.cu\n")
    assert diffs["gone.cu"].startswith("--- a/gone.cu\n+++ /dev/null\n")
    assert [difference.path for difference in found] == sorted(diffs)


TEXTS = [
    "",
    "\n",
    "one",
    "one\n",
    "one\n\n",
    "".join(f"{line}\n" for line in range(9)),
    "ü\n" * 9 + "-- \n+\n\\",
]


@pytest.mark.skipif(not shutil.which("git"), reason="there is no git")
def test_diffs_can_be_applied(out: Path) -> None:
    """They mend the tree to the byte: files that are there or not, whose last line ends or not."""
    cases = [case for case in itertools.product([None, *TEXTS], repeat=2) if any(case)]
    have = make_tree(**{f"file{number}": text for number, (text, _) in enumerate(cases) if text is not None})
    want = make_tree(**{f"file{number}": text for number, (_, text) in enumerate(cases) if text is not None})
    write_tree(have, out)
    diff = "".join(difference.diff for difference in check_tree(want, out))
    for _ in range(2):  # Once more where all is right: an empty diff.
        command = ["git", "apply", "--allow-empty", "--whitespace=nowarn"]
        subprocess.run(command, input=diff.encode(), cwd=out, check=True)
        diff = "".join(difference.diff for difference in check_tree(want, out))
        assert diff == ""
    assert {path.name: path.read_text("utf-8") for path in out.iterdir()} == want


def test_check_sees_a_changed_line_end(out: Path) -> None:
    files = make_tree(a="one\n")
    write_tree(files, out)
    (out / "a.cu").write_bytes(b"one\r\n")
    [difference] = check_tree(files, out)
    assert difference.kind == "changed"
    assert "-one\\r\n+one\n" in difference.diff


def test_check_of_an_absent_folder(out: Path) -> None:
    files = make_tree(a="1\n")
    assert kinds(files, out) == {"a.cu": "missing", "manifest.json": "missing"}
    assert not out.exists()


def test_byte_code_is_ignored(out: Path) -> None:
    files = make_tree(a="1\n")
    write_tree(files, out)
    (out / "__pycache__").mkdir()
    (out / "__pycache__/x.cpython-311.pyc").write_bytes(b"\0")
    (out / "old.pyc").write_bytes(b"\0")
    assert check_tree(files, out) == []


def test_stale_files_and_their_folders_go(out: Path) -> None:
    write_tree(make_tree(kernels__old__a="1\n", kernels__b="1\n"), out)
    files = make_tree(kernels__b="1\n")
    assert write_tree(files, out).removed == ("kernels/old/a.cu",)
    assert not (out / "kernels/old").exists()
    assert check_tree(files, out) == []


def test_foreign_files_stay(out: Path) -> None:
    write_tree(make_tree(kernels__a="1\n"), out)
    (out / "kernels/mine.txt").write_text("mine")
    (out / "other").symlink_to(out.parent)
    files = make_tree(b="1\n")
    write_tree(files, out)
    assert (out / "kernels/mine.txt").read_text() == "mine"
    assert kinds(files, out) == {"kernels/mine.txt": "foreign", "other": "foreign"}


def test_a_foreign_file_in_the_way_is_not_overwritten(out: Path) -> None:
    out.mkdir()
    (out / "a.cu").write_text("mine\n")
    files = make_tree(a="1\n")
    with pytest.raises(ForeignFileError, match=r"a\.cu.*--force"):
        write_tree(files, out)
    assert [path.name for path in out.iterdir()] == ["a.cu"]
    assert (out / "a.cu").read_text() == "mine\n"
    write_tree(files, out, overwrite=True)
    assert check_tree(files, out) == []


def test_a_manifest_cannot_name_files_outside(out: Path) -> None:
    files = make_tree(a="1\n")
    write_tree(files, out)
    outside = out.parent / "precious.txt"
    outside.write_text("x")
    (out / "linked").symlink_to(out.parent)
    claims = ["../precious.txt", str(outside), "linked/precious.txt", 7]
    (out / "manifest.json").write_text(json.dumps({"files": claims}))
    write_tree(files, out)
    assert outside.read_text() == "x"


@pytest.mark.parametrize("text", ["", "<<<<<<< ours", "[]", '{"files": 3}', '{"other": []}', "\xff"])
def test_a_damaged_manifest_owns_nothing(out: Path, text: str) -> None:
    write_tree(make_tree(a="1\n", b="1\n"), out)
    (out / "manifest.json").write_bytes(text.encode("latin-1"))
    files = make_tree(a="1\n")
    assert kinds(files, out) == {"b.cu": "foreign", "manifest.json": "changed"}
    write_tree(files, out, overwrite=True)
    assert kinds(files, out) == {"b.cu": "foreign"}


@pytest.mark.parametrize("stop", range(1, 9))
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failure_in_the_middle_restores_the_tree(
    out: Path, monkeypatch: pytest.MonkeyPatch, stop: int, error: BaseException
) -> None:
    write_tree(make_tree(a="1\n", b="1\n", old__gone="1\n"), out)
    before = snapshot(out)
    calls = 0
    real = Path.replace

    def replace(self: Path, target: Path) -> Path:
        nonlocal calls
        calls += 1
        if calls == stop:
            raise error
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(type(error)):
        write_tree(make_tree(a="2\n", b="2\n", new__c="1\n"), out)
    assert calls >= stop
    assert snapshot(out) == before
    assert not (out / "new").exists()
    assert [path.name for path in out.parent.iterdir()] == [out.name]


def test_a_failure_while_staging_changes_nothing(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(make_tree(a="1\n"), out)
    before = snapshot(out)

    def fail(self: Path, text: bytes) -> int:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(OSError, match="disk full"):
        write_tree(make_tree(a="2\n"), out)
    assert snapshot(out) == before
    assert [path.name for path in out.parent.iterdir()] == [out.name]


@pytest.mark.parametrize("path", ["", "/etc/x", "../x", "a/../x", "a//b", "a\\b", "C:x", ".", "a/\0"])
def test_paths_that_leave_the_folder_are_refused(out: Path, path: str) -> None:
    files = {path: "x", "manifest.json": json.dumps({"files": [path]})}
    with pytest.raises(ValueError, match="want a relative path"):
        write_tree(files, out)
    assert not out.exists()


def test_names_that_differ_by_case_only_are_refused(out: Path) -> None:
    with pytest.raises(ValueError, match=r"'A\.cu' and 'a\.cu'"):
        write_tree(make_tree(a="1", A="2"), out)


def test_a_tree_needs_a_truthful_manifest(out: Path) -> None:
    with pytest.raises(ValueError, match=r"manifest\.json"):
        write_tree({"a.cu": "1"}, out)
    with pytest.raises(ValueError, match="sorted list"):
        write_tree({"a.cu": "1", "manifest.json": '{"files": ["b.cu"]}'}, out)


def test_a_folder_or_file_in_the_way(out: Path) -> None:
    (out / "a.cu").mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        write_tree(make_tree(a="1"), out)
    (out / "kernels").symlink_to(out.parent)
    with pytest.raises(NotADirectoryError):
        write_tree(make_tree(kernels__b="1"), out)
    out_file = out.parent / "file"
    out_file.write_text("")
    for call in (write_tree, check_tree):
        with pytest.raises(NotADirectoryError):
            call(make_tree(a="1"), out_file)
