import json
import subprocess
import sys

import pytest

from . import layers

CORE = ("ohr", "ohr.contracts", "ohr.registry", "ohr.spec.read", "ohr.engine.run", "ohr.testing", "ohr.cli.app")


def test_imports_go_in_the_right_direction():
    assert layers.faults() == []


def test_every_import_of_the_house_is_seen():
    found = {(item.module, item.target) for item in layers.imports()}
    assert ("ohr.noise.formatting", "ohr.noise.markup") in found  # a relative one
    assert ("ohr.noise.formatting", "ohr.text.edits") in found  # from ohr import edits
    assert ("ohr.report.figures.curves", "ohr.report.figures.data") in found
    assert ("ohr.retrievers.bm25", "bm25s") in found  # one inside a method


@pytest.mark.parametrize(
    ("file", "line", "told"),
    [
        ("noise/a.py", "from ohr.engine.run import run", "a family imports only the contracts and shared rooms"),
        ("noise/a.py", "from ohr.retrievers.bm25 import BM25", "a family imports only the contracts and shared rooms"),
        ("ohr/ocr/a.py", "from ohr.chunkers import page", "a family imports only the contracts and shared rooms"),
        ("retrievers/a.py", "import torch", "imports a heavy library with the module: import it where it is used"),
        ("retrievers/a.py", "def f():\n    import torch", ""),
        ("retrievers/a.py", "from .bm25 import BM25", ""),
        ("retrievers/a.py", "from ohr import text", ""),
        ("ohr/engine/a.py", "from ohr.noise import formatting", "the core sees a family only through the registry"),
        (
            "ohr/engine/a.py",
            "def f():\n    import ohr.ocr.tesseract",
            "the core sees a family only through the registry",
        ),
        ("ohr/engine/a.py", "from ohr.ocr.ground_truth import GroundTruth", ""),
        ("ohr/engine/a.py", "from ohr.cli.app import main", "nothing imports the command line"),
        ("ohr/engine/a.py", "from ohr.report.figures import curves", "only the command line imports figures"),
        ("ohr/engine/a.py", "from ohr import testing", "nothing imports the conformance suites"),
        ("ohr/text.py", "from ohr.results.reading import read_rows", "a shared room imports only shared rooms"),
        ("ohr/cli/a.py", "from ohr.report.figures.curves import draw", ""),
    ],
)
def test_a_wrong_import_is_told(tmp_path, file, line, told):
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text(line + "\n")
    assert [layers.fault(item) for item in layers.imports(tmp_path)] == [told]


def modules_of(*names):
    code = f"import json, sys, {', '.join(names)}; print(json.dumps([name.split('.')[0] for name in sys.modules]))"
    return set(json.loads(subprocess.check_output([sys.executable, "-c", code], text=True)))


@pytest.mark.parametrize("module", CORE)
def test_importing_the_core_imports_no_heavy_library(module):
    assert (
        modules_of(module) & {"torch", "transformers", "sentence_transformers", "matplotlib", "cv2", "jieba"} == set()
    )


def test_importing_every_plugin_imports_no_torch():
    code = (
        "import sys\nfrom ohr.contracts import FAMILIES\nfrom ohr.registry import Registry\n"
        "plugins = [Registry().load(family, kind) for family in FAMILIES for kind in Registry().names(family)]\n"
        "print(len(plugins) > 10, sorted({'torch', 'transformers', 'cv2', 'onnxruntime'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "True []"
