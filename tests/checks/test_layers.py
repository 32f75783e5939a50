import shutil
import subprocess
import sys

import pytest

from checks import layers
from checks.source import ROOT, imports

CORE = ("ohr", "ohr.contracts", "ohr.registry", "ohr.spec.read", "ohr.runner.run", "ohr.testing", "ohr.cli.app")


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text + "\n")


def test_every_import_of_ohr_is_seen(tmp_path):
    for folder in ("noise/formatting", "ohr/report/figures", "ohr/text", "ohr/steps/documents"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    found = {(item.module, item.target) for item in imports(tmp_path)}
    assert ("ohr.noise.formatting", "ohr.noise.formatting.page_words") in found  # a relative one
    assert ("ohr.noise.formatting", "ohr.text.edits") in found  # from ohr.text import edits
    assert ("ohr.report.figures.curves_figure", "ohr.report.figures.panels") in found
    assert ("ohr.steps.documents.treat", "bm25s.stopwords") in found  # one inside a method


FAMILY = "a family imports only the contracts and shared packages"
REGISTRY = "the core sees a family only through the registry"


@pytest.mark.parametrize(
    ("file", "line", "reason"),
    [
        ("noise/a.py", "from ohr.runner.run import run", FAMILY),
        ("noise/a.py", "from ohr.retrievers.lexical.bm25 import BM25", FAMILY),
        ("ocr/a.py", "from ohr.chunkers import page", FAMILY),
        ("retrievers/a.py", "import torch", "imports a heavy library with the module: import it where it is used"),
        ("retrievers/a.py", "def f():\n    import torch", ""),
        ("retrievers/a.py", "from .bm25 import BM25", ""),
        ("retrievers/a.py", "from ohr import text", ""),
        ("ohr/engine/a.py", "from ohr.noise import formatting", REGISTRY),
        ("ohr/engine/a.py", "def f():\n    import ohr.ocr.tesseract", REGISTRY),
        ("ohr/engine/a.py", "from ohr.ocr.ground_truth import GroundTruth", ""),
        ("ohr/engine/a.py", "from ohr.cli.app import main", "nothing imports the command line"),
        ("ohr/engine/a.py", "from ohr.report.figures import curves", "only the command line imports figures"),
        ("ohr/engine/a.py", "from ohr import testing", "nothing imports the conformance suites"),
        (
            "ohr/text.py",
            "from ohr.results.folder.run_folder import read_csv",
            "a shared package imports only shared packages",
        ),
        ("ohr/questions/a.py", "from ohr.dataset.misplaced_evidence import misplaced", ""),
        (
            "ohr/questions/a.py",
            "from ohr.engine.run import run",
            "questions imports only the dataset, metrics and shared packages",
        ),
        ("ohr/cli/a.py", "from ohr.report.figures.curves_figure import draw", ""),
    ],
)
def test_a_wrong_import_is_reported(tmp_path, file, line, reason):
    write(tmp_path, {file: line})
    assert [layers.fault(item) for item in imports(tmp_path)] == [reason]


def test_a_circle_of_packages_is_reported_as_a_path_also_through_functions(tmp_path):
    files = {
        "ohr/graph/a.py": "from ohr.store.b import b",
        "ohr/store/b.py": "\ndef f():\n    from ohr.results import c",
        "ohr/results/c.py": "from ohr.graph import a",
    }
    write(tmp_path, files)
    assert layers.faults(tmp_path, {}) == [
        "ohr/graph/a.py:1: imports run in a circle: ohr.graph -> ohr.store -> ohr.results -> ohr.graph "
        "(ohr/graph/a.py:1, ohr/store/b.py:3, ohr/results/c.py:1)"
    ]
    assert layers.faults(tmp_path, {("ohr.store", "ohr.results"): "until the ledger is moved"}) == []


def test_two_circles_that_share_a_package_are_both_reported(tmp_path):
    files = {
        "ohr/engine/a.py": "from ohr.graph import b\nfrom ohr.results import c",
        "ohr/graph/b.py": "from ohr.engine import a",
        "ohr/results/c.py": "from ohr.engine import a",
    }
    write(tmp_path, files)
    assert [fault.split(" (")[0].split(": ")[-1] for fault in layers.faults(tmp_path, {})] == [
        "ohr.engine -> ohr.graph -> ohr.engine",
        "ohr.results -> ohr.engine -> ohr.results",
    ]


def test_a_circle_of_modules_within_a_family_is_reported(tmp_path):
    write(tmp_path, {"noise/ink/a.py": "from . import b", "noise/ink/b.py": "def f():\n    from .a import a"})
    assert [fault.split(" (")[0] for fault in layers.faults(tmp_path, {})] == [
        "noise/ink/a.py:1: imports run in a circle: ohr.noise.ink.a -> ohr.noise.ink.b -> ohr.noise.ink.a"
    ]


def test_a_package_that_exports_a_module_which_imports_the_package_is_a_circle(tmp_path):
    write(tmp_path, {"ohr/spec/__init__.py": "from .a import a", "ohr/spec/a.py": "from ohr.spec import b"})
    assert [fault.split(" (")[0].split(": ")[-1] for fault in layers.faults(tmp_path, {})] == [
        "ohr.spec.__init__ -> ohr.spec.a -> ohr.spec.__init__"
    ]


def test_imports_for_type_checkers_make_a_circle_those_of_the_root_apart(tmp_path):
    checked = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ohr.graph import a"
    write(tmp_path, {"ohr/graph/a.py": "from ohr.store import b\nfrom ohr import c", "ohr/store/b.py": checked})
    write(tmp_path, {"ohr/__init__.py": checked})
    assert layers.faults(tmp_path, {}) == [
        "ohr/graph/a.py:1: imports run in a circle: ohr.graph -> ohr.store -> ohr.graph (ohr/graph/a.py:1, "
        "ohr/store/b.py:3)"
    ]


def test_an_exception_whose_import_is_gone_is_reported(tmp_path):
    write(tmp_path, {"ohr/graph/a.py": "from ohr.store import b", "ohr/store/b.py": ""})
    assert layers.faults(tmp_path, {("ohr.store", "ohr.graph"): "until the ledger is moved"}) == [
        "checks/layers.py: CIRCLES_TO_CUT: ohr.store does not import ohr.graph any more: delete the entry"
    ]


def test_importing_the_core_and_then_every_plugin_imports_no_heavy_library():
    heavy = {"torch", "transformers", "sentence_transformers", "matplotlib", "cv2", "rjieba"}
    code = (
        f"import sys\nfor name in {CORE}:\n"
        f"    __import__(name)\n    print(name, *{heavy} & sys.modules.keys())\n"
        "from ohr.contracts import FAMILIES\nfrom ohr.registry import Registry\n"
        "plugins = [Registry().load(family, kind) for family in FAMILIES for kind in Registry().names(family)]\n"
        "print(len(plugins) > 10, sorted({'torch', 'transformers', 'cv2', 'onnxruntime'} & sys.modules.keys()))"
    )
    *core, plugins = subprocess.check_output([sys.executable, "-c", code], text=True).splitlines()
    assert (core, plugins) == ([*CORE], "True []")
