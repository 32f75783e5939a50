"""Runs for the page: a plain one, and one whose texts, names and answers try to be code."""

import json

import pytest

from ohr.engine.executors.inline import Inline
from ohr.runner.run import run
from ohr.spec.read import read_spec

from .chromium import CHROMIUM, FLAGS

HOSTILE = "</script><script>window.hacked = 1</script>{{ 7 * 7 }}<img src=x onerror='window.hacked = 2'>"
PLAIN = """\
name: plain
replicates: 1
limit: 6
benchmark: {kind: mini, languages: [en], max_pages: 1}
knowledge_bases:
  - name: ground_truth
  - name: formatting
    text_noise: {kind: formatting, rate: [0.2, 0.6]}
chunker: {kind: page}
retrievers: [{kind: bm25, top_k: 2}]
generators: [{kind: extractive}]
"""
STRANGE = """\
name: strange
benchmark: {kind: ohrbench, root: data}
knowledge_bases:
  - {name: gt, ocr: {kind: precomputed, root: data/retrieval_base/gt}}
  - {name: "<b>read</b>", ocr: {kind: precomputed, root: data/read}}
retrievers: [{kind: bm25}]
generators: [{kind: extractive}]
"""


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def plain(shared):
    """The folder of a run on six pages of mini."""
    return _run(shared("html-plain", write_plain))


@pytest.fixture(scope="session")
def strange(shared):
    """The folder of a run on documents with code in their texts, in Chinese and Arabic, and one of half a MB."""
    return _run(shared("html-strange", write_strange))


def _run(home):
    return next(home.glob("runs/*/*/manifest.json")).parent


def write_plain(home):
    (home / "plain.yaml").write_text(PLAIN)
    run(read_spec(home / "plain.yaml"), store=home / ".ohr", runs=home / "runs", executor=Inline())


def write_strange(home):
    texts = {
        "law/lease <i>": f"The lease of {HOSTILE} began in 1964. It ends in 1999.",
        "law/arabic": "بدأ عقد الإيجار في عام 1964 وينتهي في عام 1999 باتفاق الطرفين على التجديد",
        "law/chinese": "租赁合同于1964年开始，并于1999年结束，双方同意续约。",
        "law/long": "word " * 100_000 + "The long lease began in 1964.",
        "law/plain": "The plain lease began in 1964.",
    }
    asked = []
    for number, (name, text) in enumerate(texts.items()):
        for root, read in (("retrieval_base/gt", text), ("read", text.replace("e", "c").replace("1964", "1994"))):
            path = home / "data" / root / f"{name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps([{"page_idx": 0, "text": read}]))
        evidence = text[-40:] if name == "law/long" else text
        about = {"ID": f"q{number}", "doc_name": name, "answers": "1964", "evidence_source": "text"}
        about |= {"questions": f"When? {HOSTILE}", "evidence_page_no": 0, "evidence_context": evidence}
        asked.append(about)
    (home / "data/qas.json").write_text(json.dumps(asked))
    (home / "strange.yaml").write_text(STRANGE)
    run(read_spec(home / "strange.yaml"), store=home / ".ohr", runs=home / "runs", executor=Inline())
