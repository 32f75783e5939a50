"""`command` with real programs: Tesseract, docvortex, and scripts that misbehave."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from shutil import which
from textwrap import dedent

import numpy as np
import pytest
from pydantic import ValidationError

from ohr.contracts import DocumentView
from ohr.errors import PluginError, SpecError
from ohr.ocr.command import Command
from ohr.registry import Registry
from ohr.spec.read import read_spec
from ohr.testing import check_ocr

from ..conftest import typeset

PAGE = np.full((40, 60, 3), 255, dtype=np.uint8)


@pytest.fixture
def script(tmp_path):
    """Make a command of a Python script, which gets the input and the output folder."""

    def make(code: str, words: str = "{input} {output}", **fields) -> Command:
        path = tmp_path / "engine.py"
        path.write_text("import os, pathlib, signal, subprocess, sys, time\n" + dedent(code))
        return Command(run=f"{sys.executable} {path} {words}", **fields)

    return make


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """The folder of temporary files, which must be empty after each test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def outcomes(command: Command, pages: int = 1) -> list[str]:
    """Read blank pages: the text of each, or its error in brackets."""
    found = list(command.recognise([PAGE] * pages))
    assert len(found) == pages
    return [f"({page.error})" if page.error else command.written(page) for page in found]


def gone(number: int) -> bool:
    """Report whether a process ends within some seconds."""
    for _ in range(100):
        try:
            if Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


# --- programs that work -----------------------------------------------------------------------------------

tesseract = pytest.mark.skipif(which("tesseract") is None, reason="needs Debian's tesseract-ocr")


@tesseract
def test_tesseract_keeps_the_contract(line_image):
    engine = Command(
        run="tesseract {input} stdout", version="tesseract --version", environment={"OMP_THREAD_LIMIT": "1"}
    )
    check_ocr(engine.model_copy(update={"environment": {}}), line=line_image, reads="quick brown fox")
    assert outcomes(engine) == [""]
    assert engine.identity()["version"].startswith("tesseract ")


@tesseract
@pytest.mark.parametrize("pages", ["each", "all"])
def test_tesseract_reads_single_images_or_a_folder_of_them(pages):
    each = "tesseract $1 $2/page"
    loop = "for file in $1/*.png; do tesseract $file $2/$(basename $file .png); done"
    engine = Command(run=["sh", "-c", each if pages == "each" else loop, "sh", "{input}", "{output}"], pages=pages)
    assert engine.reads_documents == (pages == "all")
    lines = [typeset(text) for text in ("First page", "Second page")]
    assert [engine.written(page).strip() for page in engine.recognise(lines)] == ["First page", "Second page"]


def test_a_pdf_of_page_images_has_their_pixels(script):
    engine = script(
        """
        import pypdfium2
        for page in pypdfium2.PdfDocument(sys.argv[1]):
            image = page.render(scale=150 / 72).to_numpy()
            print(image.shape, int(image.sum()), end="\\f")
        """,
        "{input}",
        input="pdf",
    )
    images = [PAGE, np.full((30, 50, 3), 7, dtype=np.uint8)]
    assert [page.text for page in engine.recognise_document(DocumentView(None, images))] == [
        f"{image.shape} {int(image.sum())}" for image in images
    ]


DOCVORTEX = which("docvortex", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")


@pytest.mark.skipif(DOCVORTEX is None, reason="needs docvortex: pip install docvortex==0.6.4")
@pytest.mark.slow
def test_docvortex_reads_the_original_file():
    mini = Registry().load("benchmark", "mini").model_validate({"kind": "mini"})
    document = next(d for d in mini.documents() if d.name == "finance/timber_annual_report")
    engine = Command(
        run=f"{DOCVORTEX} convert {{input}} -o {{output}}/structured_content.json --format structured_content",
        version=f"{DOCVORTEX} --version",
        input="pdf",
        source="original",
        format="mineru",
    )
    assert engine.reads_original
    pages = list(engine.recognise_document(DocumentView(document, [PAGE] * document.pages, mini.pdf(document))))
    assert [page.error for page in pages] == [None] * 3
    assert any(block.kind == "table" and "263,747" in block.text for block in pages[1].blocks)
    assert any(block.kind == "heading" for block in pages[0].blocks)


def test_a_document_without_a_pdf_fails(script):
    engine = script("", input="pdf", source="original")
    found = list(engine.recognise_document(DocumentView(None, [PAGE, PAGE])))
    assert [page.error for page in found] == ["the benchmark has no PDF of this document"] * 2
    assert outcomes(engine) == ["(it reads the documents' own files, not images)"]


def test_results_of_a_format_have_blocks(script):
    blocks = [{"type": "text", "text": "Lease", "text_level": 1, "page_idx": 0}]
    engine = script(
        f"pathlib.Path(sys.argv[2], 'any_content_list.json').write_text({json.dumps(blocks)!r})", format="mineru"
    )
    assert outcomes(engine) == ["# Lease"]
    # a content list has no blocks of blank pages: the second one is blank
    assert outcomes(engine.model_copy(update={"pages": "all"}), 2) == ["# Lease", ""]


# --- programs that do not ---------------------------------------------------------------------------------


PYTHON = Path(sys.executable).name


@pytest.mark.parametrize(
    ("ends", "words", "timeout", "outcome"),
    [
        ("print('loading', file=sys.stderr, flush=True); time.sleep(60)", "{input} {output}", 3.0,
         f"({PYTHON} took longer than 3 seconds: loading)"),
        ("print('done')", "{input}", 30.0, "done"),  # the child holds the pipes open
    ],
)  # fmt: skip
def test_a_program_is_ended_with_all_that_it_started(script, tmp_path, ends, words, timeout, outcome):
    child = tmp_path / "child"
    starts = f"pathlib.Path({str(child)!r}).write_text(str(subprocess.Popen(['sleep', '60']).pid))\n"
    began = time.perf_counter()
    assert outcomes(script(starts + ends, words, timeout=timeout)) == [outcome]
    assert time.perf_counter() - began < 40
    assert gone(int(child.read_text()))


def test_the_program_ends_with_the_process_that_started_it(script, tmp_path, temporary):
    engine = script(
        f"""
        pathlib.Path({str(tmp_path / "child")!r}).write_text(str(os.getpid()))
        time.sleep(60)
        """
    )
    code = dedent(
        f"""
        import numpy, tempfile
        from ohr.ocr.command import Command
        tempfile.tempdir = {str(temporary)!r}
        list(Command(run={list(engine.run)!r}).recognise([numpy.zeros((4, 4, 3), numpy.uint8)]))
        """
    )
    caller = subprocess.Popen([sys.executable, "-c", code])
    while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text():
        assert caller.poll() is None
        time.sleep(0.05)
    caller.kill()
    caller.wait()
    assert gone(int((tmp_path / "child").read_text()))
    for _ in range(100):
        if not list(temporary.iterdir()):
            break
        time.sleep(0.05)


def test_a_flood_of_text_fails_its_page(script):
    engine = script("for _ in range(40): sys.stdout.write('x' * (1 << 20))", "{input}")
    assert outcomes(engine) == [f"({PYTHON} wrote more than 32 MB)"]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("", "wrote nothing where a file that ends in .md or .mmd or .markdown or .txt was expected"),
        (
            "pathlib.Path(sys.argv[2], 'a.pdf').write_text('')",
            "wrote only a.pdf where a file that ends in .md or .mmd or .markdown or .txt was expected",
        ),
        ("pathlib.Path(sys.argv[2], 'a.md').write_text('1\\f2\\f3')", "wrote 3 pages for 2 pages"),
        ("pathlib.Path(sys.argv[2], 'a.md').write_text('1')", "wrote 1 page for 2 pages"),
        (
            "pathlib.Path(sys.argv[2], 'a.md').write_text('<html><body>502')",
            "wrote what cannot be used: its result is an HTML page in place of Markdown",
        ),
        (
            "[pathlib.Path(sys.argv[2], f'{name}.md').write_text('1') for name in 'ab']",
            "wrote results of several documents, and none named input",
        ),
        (
            "[sys.stderr.write('x' * 99_999 + '\\n') for _ in range(400)]; sys.exit('out of memory')",
            "ended with status 1: out of memory",
        ),  # a flood of messages is read and forgotten
        ("os.kill(os.getpid(), signal.SIGSEGV)", "was ended by SIGSEGV"),
        ("raise SystemExit('\\033[31mno \\033[0mmodel\\a')", "ended with status 1: no model\N{REPLACEMENT CHARACTER}"),
        ("raise SystemExit('no such model')", "ended with status 1: no such model"),
        ("sys.stdin.read() or sys.exit('nothing to read')", "ended with status 1: nothing to read"),
    ],
)
def test_a_program_that_fails_says_why(script, code, reason):
    assert outcomes(script(code, pages="all"), 2) == [f"({PYTHON} {reason})"] * 2


def test_a_page_that_fails_fails_alone(script):
    engine = script(
        """
        from PIL import Image
        print("read") if Image.open(sys.argv[1]).size == (60, 40) else sys.exit("too small")
        """,
        "{input}",
    )
    small = np.zeros((4, 4, 3), dtype=np.uint8)
    assert [page.error and page.error.rpartition(": ")[2] for page in engine.recognise([PAGE, small, PAGE])] == [
        None,
        "too small",
        None,
    ]


def test_a_page_that_a_document_lacks_fails_alone(script):
    marks = "".join(f"{{{page}}}{'-' * 48}\\n{page}\\n" for page in (0, 2))
    engine = script(f"print('{marks}')", "{input}", pages="all")
    assert outcomes(engine, 3) == ["0", "(the program wrote nothing for this page)", "2"]


# --- what is checked before any work ----------------------------------------------------------------------


def test_a_missing_program_is_found_before_any_work():
    message = "^ocr command: no program 'no-such-engine'. Install it, or write its whole path"
    with pytest.raises(PluginError, match=message):
        Command(run="no-such-engine {input}").check()
    with pytest.raises(PluginError, match=message):
        Command(run="sh {input}", version="no-such-engine --version").check()


def test_a_version_that_cannot_be_had_is_found_before_any_work():
    with pytest.raises(PluginError, match=r"^ocr command: sh -c 'echo broken >&2; exit 4' ended with status 4: broken"):
        Command(run="sh {input}", version="sh -c 'echo broken >&2; exit 4'").check()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"run": "engine"}, "`run` must have `{input}`"),
        ({"run": "engine '{input}"}, "No closing quotation: write a list of words"),
        ({"run": []}, "at least 1 item"),
        ({"run": "engine {input}", "format": "marker"}, "`format: marker` needs `{output}` in `run`"),
        ({"run": "engine {input}", "source": "original"}, "`source: original` needs `input: pdf`"),
        ({"run": "engine {input}", "timeout": 0}, "greater than 0"),
    ],
)
def test_keys_that_do_not_fit_are_refused(fields, message):
    with pytest.raises(ValidationError) as caught:
        Command(**fields)
    assert message in str(caught.value)


# --- identity and secrets ---------------------------------------------------------------------------------


def test_the_identity_follows_the_program_and_its_files_but_no_path(script, tmp_path):
    before = script("print(1)").identity()
    assert str(tmp_path) not in json.dumps(before)
    assert script("print(2)").identity() != before
    (tmp_path / "engine.py").rename(tmp_path / "other.py")
    engine = Command(run=f"{sys.executable} {tmp_path / 'other.py'} {{input}} {{output}}")
    assert engine.identity() != before
    (tmp_path / "other.py").write_text((tmp_path / "other.py").read_text().replace("2", "1"))
    assert engine.identity() == before


def test_the_version_is_part_of_the_identity_and_the_programs_folder_is_not():
    one, other = (Command(run="sh {input}", version=["echo", f"engine {number}"]) for number in (1, 2))
    assert one.identity()["version"] == "engine 1"
    assert one.identity() != other.identity()
    whole = Command(run=f"{which('sh')} {{input}}", version=["echo", "engine 1"])
    assert whole.identity() == one.identity()


def test_how_fast_a_program_runs_is_no_part_of_its_identity():
    known = Command(run="sh {input}").identity()
    assert Command(run="sh {input}", timeout=5, environment={"A": "b"}).identity() == known
    assert Command(run="sh {input}", pages="each").identity() == known
    assert Command(run="sh {input}", pages="all").identity() != known


def test_values_of_variables_reach_the_program_and_no_result(script):
    secret = "hunter2-hunter2"
    engine = script(
        "sys.exit(f'refused {os.environ[\"ENGINE_TOKEN\"]}')", environment={"ENGINE_TOKEN": secret}, version="true"
    )
    assert outcomes(engine)[0].endswith("ended with status 1: refused ***)")
    written = json.dumps([engine.model_dump(mode="json", by_alias=True), engine.identity()]) + repr(engine)
    assert secret not in written
    assert "ENGINE_TOKEN" in written


def test_a_spec_may_run_programs_only_if_it_is_trusted(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(
        "benchmark: {kind: mini}\nknowledge_bases: [{name: a, ocr: {kind: command, run: 'cat {input}'}}]\n"
        "chunker: {kind: page}\nretrievers: [{kind: bm25}]\nevaluate: [retrieval]\n"
    )
    with pytest.raises(SpecError, match=r"runs a program on this machine; allow it with --trust-plugins"):
        read_spec(path)
    assert read_spec(path, trust_plugins=True).knowledge_bases[0].ocr.kind == "command"
