"""`wiregen breaking`: the states that it compares, its levels and formats, and the vectors that prove a change."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.commands import called

from wiregen.language.diagnostics import OUTPUT_FORMATS

BASE = Path(__file__).resolve().parents[2] / "cases" / "breaking" / "base.wire"
WIDER = ("metres : Metres", "metres : u32")


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=Tide", "-c", "user.email=tide@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(("git", "-C", str(folder), *who, *arguments), check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose protocol is committed, tagged `first`."""
    folder = tmp_path / "project"
    (folder / "idl").mkdir(parents=True)
    (folder / "wiregen.toml").write_text("")
    (folder / "idl" / "tide.wire").write_text(BASE.read_text(encoding="utf-8"))
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "the first state")
    git(folder, "tag", "first")
    return folder


def edit(project: Path, *texts: str) -> None:
    path = project / "idl" / "tide.wire"
    text = path.read_text(encoding="utf-8")
    for one, other in zip(texts[::2], texts[1::2], strict=True):
        assert one in text
        text = text.replace(one, other)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("against", ["first", "HEAD", "idl", ".", "idl/tide.wire"])
def test_without_changes_it_is_content(project: Path, against: str) -> None:
    done = called("breaking", "--against", against, folder=project)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "1 protocol, no changes, no errors\n")


def test_a_change_of_the_wire_is_an_error_that_vectors_prove(project: Path) -> None:
    edit(project, *WIDER)
    done = called("breaking", "--against", "first", "tide", folder=project)
    assert done.exit_code == 1
    assert "error[WG8001]: field `Height.metres` changes from `u16` to `u32`\n" in done.stdout
    assert "  --> idl/tide.wire:69:3\n" in done.stdout
    assert "every field after offset 2 of `Height` moves by 2" in done.stdout
    assert "help: the new state refuses" in done.stdout and "the vectors height-" in done.stdout
    assert "the old state refuses" in done.stdout


def test_vectors_are_of_messages_that_have_the_change(project: Path) -> None:
    edit(project, *WIDER, "  EBB  = 3\n", "  EBB  = 3\n  FLOW = 4\n")
    done = called("breaking", "--against", "first", "--output-format", "json", folder=project)
    helps = {each["code"]: each["help"] for each in json.loads(done.stdout)}
    assert (
        "the new state" not in helps["WG8005"] and "the old state refuses the vectors ask-" in helps["WG8005"]
    )
    assert "ask-" not in helps["WG8001"]


def test_stored_vectors_of_the_old_state_are_used(project: Path) -> None:
    vector = {"id": "tall", "kind": "valid", "from": "server", "bytes": "000102 06", "frames": []}
    valid = vector | {"bytes": "000006"}
    strange = vector | {"id": "of-a-third-state", "bytes": "00ff"}
    (project / "generated" / "vectors").mkdir(parents=True)
    path = project / "generated" / "vectors" / "tide.json"
    path.write_text(json.dumps({"schema": 1, "protocol": "tide", "vectors": [valid, strange]}))
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", "vectors")
    edit(project, "message Old 6", "message Old 9")
    done = called("breaking", "--against", "HEAD", folder=project)
    assert (
        "help: the new state refuses or decodes differently the vectors tall of the old one\n" in done.stdout
    )


def test_levels_choose_what_is_an_error(project: Path) -> None:
    edit(project, "unit   : u8 = 7", "unit   : u8 = 8", "    after limits.wait violates slow\n", "")
    found = {}
    for level in ("wire", "api", "session", "defaults"):
        done = called(
            "breaking", "--against", "first", "--level", level, "--output-format", "concise", folder=project
        )
        found[level] = (done.exit_code, [line.split(" ")[1][:14] for line in done.stdout.splitlines()])
    notes = ["note[WG8302]", "note[WG8203]"]
    assert found == {
        "wire": (0, notes),
        "api": (0, notes),
        "session": (1, ["note[WG8302]", "error[WG8203]"]),
        "defaults": (1, ["error[WG8302]", "note[WG8203]"]),
    }


@pytest.mark.parametrize("output_format", OUTPUT_FORMATS)
def test_it_has_the_formats_of_check(project: Path, output_format: str) -> None:
    edit(project, *WIDER)
    done = called(
        "breaking", "--against", "first", "--no-vectors", "--output-format", output_format, folder=project
    )
    assert done.exit_code == 1
    assert "WG8001" in done.stdout and "help:" not in done.stdout


def test_new_and_removed_protocols(project: Path) -> None:
    (project / "idl" / "tide.wire").unlink()
    (project / "idl" / "ebb.wire").write_text(
        BASE.read_text(encoding="utf-8").replace("protocol tide", "protocol ebb")
    )
    done = called("breaking", "--against", "first", "--output-format", "concise", folder=project)
    assert done.exit_code == 1
    assert done.stdout == "error[WG8101] protocol `tide` is removed\n"
    assert "ebb: new since first\n" in done.stderr


@pytest.mark.parametrize("names", [(), ("tide",), ("idl/tide.wire",)])
@pytest.mark.parametrize("against", ["tide_v1.wire", "old"])
def test_an_old_file_is_found_by_the_name_that_it_declares(
    project: Path, names: tuple[str, ...], against: str
) -> None:
    (project / "old").mkdir()
    text = "// Before.\n" + BASE.read_text(encoding="utf-8")
    (project / "tide_v1.wire").write_text(text)
    (project / "old" / "tide_v1.wire").write_text(text)
    edit(project, *WIDER)
    done = called(
        "breaking", *names, "--against", against, "--output-format", "concise", "--no-vectors", folder=project
    )
    assert done.exit_code == 1
    assert [line.partition("[")[2][:6] for line in done.stdout.splitlines()] == ["WG8001"]
    assert "new since" not in done.stderr


def test_a_file_that_is_named_as_another_protocol_is_not_its_old_state(project: Path) -> None:
    (project / "old").mkdir()
    other = BASE.read_text(encoding="utf-8").replace("protocol tide", "protocol ebb")
    (project / "old" / "tide.wire").write_text(other)
    done = called("breaking", "--against", "old", "--output-format", "concise", folder=project)
    assert done.stdout == "error[WG8101] protocol `ebb` is removed\n"
    assert "tide: new since old\n" in done.stderr


@pytest.mark.parametrize("against", ["ebb.wire", "ebb.json"])
def test_one_protocol_is_compared_with_one_of_another_name(project: Path, against: str) -> None:
    other = BASE.read_text(encoding="utf-8").replace("protocol tide", "protocol ebb")
    (project / "ebb.wire").write_text(other)
    (project / "ebb.json").write_bytes(called("ir", "ebb.wire", folder=project).stdout_bytes)
    edit(project, *WIDER)
    done = called(
        "breaking", "--against", against, "--output-format", "concise", "--no-vectors", folder=project
    )
    assert done.exit_code == 1
    assert [line.partition("[")[2][:6] for line in done.stdout.splitlines()] == ["WG8101", "WG8001"]
    assert "protocol `ebb` is renamed to `tide`" in done.stdout


def test_one_old_file_says_nothing_about_other_protocols(project: Path) -> None:
    text = (project / "idl" / "tide.wire").read_text(encoding="utf-8")
    (project / "tide_v1.wire").write_text(text)
    (project / "idl" / "ebb.wire").write_text(text.replace("protocol tide", "protocol ebb"))
    done = called("breaking", "--against", "tide_v1.wire", folder=project)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "ebb: new since tide_v1.wire\n" in done.stderr and "tide: new" not in done.stderr


def test_numbers_of_protobuf_are_compared_if_they_are_used(project: Path) -> None:
    (project / "idl" / "tide.lock").write_text("# Numbers.\nAsk.id = 1\nAsk.station = 2\n")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", "a lock")
    (project / "idl" / "tide.lock").write_text("# Numbers.\nAsk.id = 2\nAsk.station = 1\n")
    done = called(
        "breaking", "--against", "HEAD", "--no-vectors", "--output-format", "concise", folder=project
    )
    assert done.exit_code == 1
    assert [line.partition("[")[2][:6] for line in done.stdout.splitlines()] == ["WG8011", "WG8011"]
    assert "the number of `Ask.id` in protobuf is 2, it was 1" in done.stdout


@pytest.mark.parametrize("against", ["nowhere", "--output=x", "first:idl", "$(touch x)"])
def test_a_state_that_does_not_exist_is_wrong_usage(project: Path, against: str) -> None:
    done = called("breaking", f"--against={against}", folder=project)
    assert done.exit_code == 2
    assert f"`{against}` is neither a path nor a revision" in done.stderr
    assert not (project / "x").exists()


def test_a_wrong_old_state_and_a_wrong_new_one(project: Path) -> None:
    edit(project, *WIDER, "message Bye 5", "message Bye 3")
    done = called("breaking", "--against", "first", folder=project)
    assert done.exit_code == 1 and "error[WG2" in done.stderr
    git(project, "commit", "--all", "--quiet", "--message", "wrong")
    edit(project, "message Bye 3", "message Bye 5")
    done = called("breaking", "--against", "HEAD", folder=project)
    assert done.exit_code == 2
    assert "error: `tide` has errors in HEAD: " in done.stderr


def test_a_saved_model_is_an_old_state(project: Path) -> None:
    (project / "old.json").write_bytes(called("ir", "tide", folder=project).stdout_bytes)
    assert called("breaking", "--against", "old.json", folder=project).stdout == ""
    edit(project, *WIDER)
    done = called("breaking", "--against", "old.json", folder=project)
    assert done.exit_code == 1
    assert "error[WG8001]: field `Height.metres` changes from `u16` to `u32`\n" in done.stdout
    assert "help: the new state refuses" in done.stdout and "the vectors height-" in done.stdout


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": "x"}', "1", "[" * 100_000])
def test_a_wrong_saved_model_is_wrong_usage(project: Path, text: str) -> None:
    (project / "old.json").write_text(text)
    done = called("breaking", "--against", "old.json", folder=project)
    assert done.exit_code == 2
    assert "error: `old.json` is not a saved model: " in done.stderr
