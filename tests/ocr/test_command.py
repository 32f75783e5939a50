"""Executables as OCR engines: real programs, good and bad."""

import sys
from time import perf_counter

import numpy as np
import psutil
import pytest
from pydantic import ValidationError

from ohr.contracts import Document, DocumentView
from ohr.errors import PluginError
from ohr.files import pdf
from ohr.ocr.command import Command

from ..conftest import typeset

LINE = "Rent of 1250 francs is due in May"
READ = """
import sys, tesserocr, sysconfig
from pathlib import Path
from PIL import Image
packs = Path(sysconfig.get_paths()["data"]) / "share" / "tessdata"
with tesserocr.PyTessBaseAPI(path=str(packs), lang="eng") as engine:
    engine.SetImage(Image.open(sys.argv[1]).convert("RGB"))
    sys.stdout.write(engine.GetUTF8Text().strip())
"""
PAGES = """
import json, sys
from pathlib import Path
import pypdfium2
document = pypdfium2.PdfDocument(sys.argv[1])
sizes = [[round(length) for length in page.get_size()] for page in document]
found = [{"type": "text", "text": f"page of {w} x {h} points", "page_idx": n} for n, (w, h) in enumerate(sizes)]
(Path(sys.argv[2]) / "document_content_list.json").write_text(json.dumps(found))
"""


def program(folder, source):
    path = folder / "program.py"
    path.write_text(source)
    return f"{sys.executable} {path}"


def view(*images, original=None):
    return DocumentView(Document("law/lease", "law", "en", len(images)), images, original)


def one(folder, source, *words, **fields):
    engine = Command(run=f"{program(folder, source)} {{input}} {' '.join(words)}", **fields)
    (read,) = engine.recognise([typeset(LINE)])
    return read


def test_a_program_reads_the_image_of_a_page(tmp_path):
    assert one(tmp_path, READ).blocks[0].text == LINE


def test_a_program_reads_the_noisy_pages_as_a_pdf(tmp_path):
    engine = Command(run=f"{program(tmp_path, PAGES)} {{input}} {{output}}", input="pdf", format="mineru", dpi=72)
    assert engine.reads_documents and not engine.reads_original
    found = engine.recognise_document(view(np.zeros((100, 200, 3), np.uint8), np.zeros((50, 60, 3), np.uint8)))
    assert [engine.written(read) for read in found] == ["page of 200 x 100 points", "page of 60 x 50 points"]


def test_the_original_file_is_read_where_it_is_asked_for(tmp_path):
    path = tmp_path / "lease.pdf"
    pdf.write(path, [np.zeros((300, 400, 3), np.uint8)], 72)
    engine = Command(
        run=f"{program(tmp_path, PAGES)} {{input}} {{output}}", input="pdf", source="original", format="mineru"
    )
    assert engine.reads_original
    (read,) = engine.recognise_document(view(typeset(LINE), original=path))
    assert engine.written(read) == "page of 400 x 300 points"
    (lost,) = engine.recognise_document(view(typeset(LINE)))
    assert lost.error == "the benchmark has no PDF of this document"


@pytest.mark.parametrize(
    ("source", "words", "fields", "error"),
    [
        ("import sys; sys.exit('no licence')", (), {}, "ended with status 1: no licence"),
        ("import os; os.kill(os.getpid(), 9)", (), {}, "ended by signal 9"),
        ("", ("{output}",), {}, "the command wrote nothing"),
        ("import sys; open(sys.argv[2] + '/other.txt', 'w')", ("{output}",), {"format": "mineru"},
         "the command wrote no file as mineru writes them, but other.txt"),
        ("print('<html>')", (), {"format": "azure"}, "HTML, not readable as JSON"),
        ("print('one\\ftwo')", (), {}, "the command wrote 2 pages, the last of them 2, of a document with 1"),
    ],
)  # fmt: skip
def test_a_bad_program_fails_its_page_with_the_reason(tmp_path, source, words, fields, error):
    assert one(tmp_path, source, *words, **fields).error.startswith(error)


def test_a_program_that_hangs_ends_with_all_that_it_started(tmp_path):
    child = "import subprocess, sys, time; print(file=sys.stderr); p = subprocess.Popen(['sleep', '60.25'])\n"
    began = perf_counter()
    read = one(
        tmp_path, child + "sys.stderr.write('waiting for p\\n'); sys.stderr.flush(); time.sleep(60)", timeout=1.5
    )
    assert read.error == "no result within 1.5 s: waiting for p"
    assert perf_counter() - began < 10
    assert not any(process.info["cmdline"] == ["sleep", "60.25"] for process in psutil.process_iter(["cmdline"]))


def test_a_flood_of_messages_does_not_stop_a_program_or_fill_memory(tmp_path):
    source = "import sys\nfor _ in range(2000): sys.stderr.write('x' * 10_000)\nprint('read')"
    before = psutil.Process().memory_info().rss
    assert one(tmp_path, source).blocks[0].text == "read\n".strip()
    assert psutil.Process().memory_info().rss - before < 10 << 20


def test_a_page_that_a_program_leaves_out_fails_alone(tmp_path):
    source = PAGES.replace("write_text(json.dumps(found)", "write_text(json.dumps(found[1:])")
    engine = Command(run=f"{program(tmp_path, source)} {{input}} {{output}}", input="pdf", format="mineru", dpi=72)
    first, second = engine.recognise_document(view(*[np.zeros((100, 200, 3), np.uint8)] * 2))
    assert (first.error, second.error) == ("the command wrote no such page", None)


def test_what_cannot_run_is_refused_before_any_work(tmp_path):
    with pytest.raises(PluginError, match="ocr command: no executable 'mineru-kitt': install it"):
        Command(run="mineru-kitt parse {input}").check()
    with pytest.raises(PluginError, match="does not print a version: ended with status 3"):
        words = [sys.executable, "-c", "import sys; sys.exit(3)"]
        Command(run=f"{sys.executable} {{input}}", version_command=words).check()
    with pytest.raises(ValidationError, match=r"run must have \{input\}"):
        Command(run="mineru")
    with pytest.raises(ValidationError, match="source: original needs input: pdf"):
        Command(run="mineru {input}", source="original")


def test_the_version_is_part_of_the_identity():
    versions = [Command(run="x {input}", version_command=[sys.executable, "-c", f"print({n})"]) for n in (1, 2)]
    assert [engine.identity()["version"] for engine in versions] == ["1", "2"]


def test_a_spec_may_run_programs_only_if_it_is_trusted(tmp_path):
    from ohr.spec.read import read_spec

    path = tmp_path / "spec.yaml"
    path.write_text(
        "benchmark: {kind: mini}\nknowledge_bases: [{name: a, ocr: {kind: command, run: 'cat {input}'}}]\n"
        "chunker: {kind: page}\nretrievers: [{kind: bm25}]\nevaluate: [retrieval]\n"
    )
    with pytest.raises(Exception, match=r"runs a program on this machine; allow it with --trust-plugins"):
        read_spec(path)
    assert read_spec(path, trust_plugins=True).knowledge_bases[0].ocr.kind == "command"
