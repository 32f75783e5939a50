"""For all tests: one thread for each process, random examples, a chat server, and models with random weights."""

import gc
import http.server
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# numpy and torch read these once, when they are imported. Two processes of tests with two threads each take turns on
# two cores, which costs more than it gains.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# runs look for the commit of the checkout that plugins are in, which takes two processes each time
os.environ.setdefault("GIT_CEILING_DIRECTORIES", str(Path(__file__).parents[1]))

import numpy as np  # noqa: E402
import pytest  # noqa: E402
import typer.testing  # noqa: E402
from filelock import FileLock  # noqa: E402
from hypothesis import settings  # noqa: E402
from PIL import Image, ImageDraw, ImageFont  # noqa: E402

from ohr.engine.executors.inline import Inline  # noqa: E402
from ohr.engine.executors.local import Local  # noqa: E402
from ohr.models import given_up, reach, tries  # noqa: E402
from ohr.models.resident import holding  # noqa: E402
from ohr.text_layers import looks  # noqa: E402

from . import tiny_documents, tiny_models  # noqa: E402

# typer makes all commands of ohr again for each one that a test types, which took a fifth of the time of such tests
typer.testing._get_command = cache(typer.testing._get_command)  # type: ignore[attr-defined]
# a suite in the background ignores Ctrl-C, and its runs would too
signal.signal(signal.SIGINT, signal.default_int_handler)
# without a deadline: the first example may load a dictionary or a model
settings.register_profile("ci", deadline=None, max_examples=20)
settings.register_profile("nightly", deadline=None, max_examples=300)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


MODELS = (
    "tests/generators/",
    "tests/models/",
    "tests/ocr/test_transformers",
    "tests/retrievers/",
    "tests/test_conformance.py",
)
CHUNKER = """\
from typing import Literal
from ohr.contracts import Chunker

class {name}(Chunker):
    "Gives nothing."
    kind: Literal["{kind}"] = "{kind}"
    def split(self, pages):
        return []
"""
"""A plugin, whose name and kind are filled in."""

MANY_OBJECTS = 100_000
LONGEST = 120
"""Seconds of a test that is not for `make acceptance`: on a free core the longest takes 16, on a crowded one 19."""
HELD = (
    "tests/ocr/test_engines", "tests/ocr/test_mineru", "tests/ocr/test_routing", "tests/ocr/test_service",
    "tests/ocr/test_vlm", "tests/retrievers/", "tests/test_conformance",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests of models side by side: few processes then import torch, which takes seconds in each."""
    items.sort(key=lambda item: not item.nodeid.startswith(MODELS))
    for item in items:
        if not item.get_closest_marker("acceptance") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(LONGEST))


def pytest_collectstart() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    """Keep the garbage collector from walking over ten thousand collected tests again and again.

    It took 16% of the time of 300 tests before, and takes 4% now. During the collection it rests.
    """
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Do the same with the modules that a file of tests has imported, torch among them."""
    if nextitem is not None and nextitem.path != item.path and len(gc.get_objects(2)) > MANY_OBJECTS:
        gc.collect()
        gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def no_looks_of_others(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep looks at text layers, which a user's cache has, where no other code finds them."""
    folder = tmp_path_factory.mktemp("looks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(looks, "user_cache", lambda: folder)
        yield


@pytest.fixture
def line_image() -> np.ndarray:
    """A line of black text on white."""
    return typeset("The quick brown fox jumps.")


def typeset(text: str, size: int = 40) -> np.ndarray:
    image = Image.new("RGB", (60 + 22 * len(text), 140), "white")
    ImageDraw.Draw(image).text((30, 45), text, fill="black", font=ImageFont.load_default(size))
    return np.asarray(image).copy()


@dataclass
class ChatServer:
    """A small real server of the chat API; each request takes the next of `replies`, then echoes the question.

    A reply is (status, headers, body); the status 0 stalls until the test ends. With `only`, all prompts but one stall.
    """

    url: str = ""
    only: str | None = None
    replies: list[tuple[int, dict[str, str], str]] = field(default_factory=list)
    requests: list[dict[str, object]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    done: threading.Event = field(default_factory=threading.Event)


def asked(body: dict[str, Any]) -> str:
    """The user's words; of parts, the last one's text."""
    (content,) = [message["content"] for message in body["messages"] if message["role"] == "user"]
    return content if isinstance(content, str) else content[-1]["text"]


def completion(text: str, finish: str = "stop") -> str:
    usage = {"prompt_tokens": 7, "completion_tokens": len(text.split())}
    return json.dumps({"choices": [{"message": {"content": text}, "finish_reason": finish}], "usage": usage})


@contextmanager
def serving(server: http.server.ThreadingHTTPServer) -> Iterator[None]:
    """Serve in a thread until the end of the block."""
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    state, lock = ChatServer(), threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):  # the library's name
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with lock:
                state.requests.append(body)
                state.headers.append(dict(self.headers))
                echo = (200, {}, completion("echo " + asked(body)))
                status, headers, text = state.replies.pop(0) if state.replies else echo
            if status == 0 or state.only not in (None, asked(body)):
                state.done.wait(20)
                return
            self.send_response(status)
            for name, value in {"content-length": str(len(text.encode())), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    with serving(server):
        yield state
        state.done.set()


@pytest.fixture(autouse=True)
def no_server_known(monkeypatch) -> None:
    """Forget the servers that other tests met or missed: ports are used again."""
    monkeypatch.setattr(reach, "_met", set())
    monkeypatch.setattr(given_up, "_since", {})
    monkeypatch.setattr(tries, "_refusals", {})


@pytest.fixture(scope="module", autouse=True)
def held(request) -> Iterator[None]:
    """Keep models in memory from one test of a file to the next: loading takes up to a second."""
    with holding() if request.node.nodeid.startswith(HELD) else nullcontext():
        yield


@pytest.fixture
def one_process(monkeypatch) -> None:
    """Do the steps of commands in this process where they would start a single worker."""

    def executor(workers: int | None) -> Inline | Local:
        return Inline() if workers in (None, 1) else Local(workers)

    monkeypatch.setattr("ohr.engine.executors.local.Local", executor)


Shared = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture(scope="session")
def shared(tmp_path_factory) -> Shared:
    """Return the folder of a name, filled by a function once for all worker processes of this session."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # each worker has a folder inside that of the session
        root = root.parent

    def folder(name: str, fill: Callable[[Path], object]) -> Path:
        made, half = root / name, root / f"{name}.half"
        with FileLock(root / f"{name}.lock"):
            if not made.exists():
                half.mkdir()
                fill(half)
                half.rename(made)
        return made

    return folder


@pytest.fixture(scope="session")
def tiny_model(shared) -> Path:
    """A random Llama of two layers with a chat template, saved as any model is."""
    return shared("llama", tiny_models.llama)


@pytest.fixture(scope="session")
def tiny_vision_model(shared) -> Path:
    """A random LLaVA of two layers, saved as any model is; images are 56 pixels a side, 16 patches."""
    return shared("llava", tiny_models.llava)


@pytest.fixture(scope="session")
def any_torchvision(request) -> None:
    """Make torchvision usable if there is one: transformers takes its image processors."""
    if find_spec("torchvision") is not None:
        request.getfixturevalue("torchvision")


@pytest.fixture(scope="session")
def tiny_document_model(shared, any_torchvision) -> Path:
    """A random Idefics3, the architecture of SmolDocling, saved as any model is."""
    return shared("idefics3", tiny_documents.idefics3)


@pytest.fixture(scope="session")
def tiny_bge_m3(shared) -> Path:
    """A random XLM-RoBERTa with the two extra heads of BGE-M3."""
    return shared("bge_m3", tiny_models.bge_m3)


@pytest.fixture(scope="session")
def tiny_reranker(shared) -> Path:
    """A random XLM-RoBERTa that scores pairs, as bge-reranker does."""
    return shared("reranker", tiny_models.reranker)


@pytest.fixture(scope="session")
def tiny_colqwen(shared) -> Path:
    """A random ColQwen2."""
    return shared("colqwen", tiny_models.colqwen)


@pytest.fixture(scope="session")
def tiny_colpali(shared) -> Path:
    """A random ColPali."""
    return shared("colpali", tiny_models.colpali)


@pytest.fixture(scope="session")
def tiny_clip(shared) -> Path:
    """A CLIP, which mteb runs without torchvision."""
    return shared("clip", tiny_models.clip)


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """Return a function that puts a folder into an empty cache of the hub, under a name and commit of mteb's."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))

    def put(name: str, files: Path) -> str:
        from mteb.models.model_implementations import MODEL_REGISTRY

        snapshots = tmp_path / "hub" / f"models--{name.replace('/', '--')}" / "snapshots"
        snapshots.mkdir(parents=True)
        (snapshots / MODEL_REGISTRY[name].revision).symlink_to(files.resolve(), target_is_directory=True)
        return name

    return put


@pytest.fixture
def mteb_model(hub) -> str:
    """MiniLM's name in mteb's registry; its files are those of the package."""
    from ohr.retrievers.embedders import folder_of

    return hub("sentence-transformers/all-MiniLM-L6-v2", Path(folder_of("minilm")))


@pytest.fixture
def mteb_images_model(hub, tiny_clip, monkeypatch) -> str:
    """CLIP's name in mteb's registry, which asks for torchvision, although its code for CLIP does not need it."""
    from mteb.models.model_meta import ModelMeta

    monkeypatch.setattr(ModelMeta, "_check_requirements", lambda self: None)
    return hub("openai/clip-vit-base-patch32", tiny_clip)


@pytest.fixture(scope="session")
def torchvision() -> Any:
    """Torchvision; a build for CUDA too, beside a torch for CPUs, which lacks two operators that no test needs."""
    if find_spec("torchvision") is None:
        pytest.skip("torchvision is not installed")
    import torch

    lacking = [name for name in ("nms", "qnms") if not hasattr(torch.ops.torchvision, name)]
    if lacking and not torch.cuda.is_available():
        operators = torch.library.Library("torchvision", "FRAGMENT")
        for name in lacking:
            operators.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _KEPT.append(operators)
    return pytest.importorskip("torchvision", exc_type=ImportError)


_KEPT: list[Any] = []
"""Operators, which are gone when nothing refers to their library."""


@pytest.fixture(scope="session")
def tiny_qwen2_vl(shared, torchvision) -> Path:
    """A random Qwen2-VL; its processor needs torchvision."""
    return shared("qwen2_vl", tiny_models.qwen2_vl)


@pytest.fixture(scope="session")
def engine_models(shared, torchvision) -> dict[str, Path]:
    """A random ColQwen2, a ColQwen2.5 and an adapter of that, in colpali-engine's form, which needs torchvision."""
    made = {v: shared(f"engine{v}", partial(tiny_models.engine_colqwen, version=v)) for v in ("2", "2.5")}
    return {**made, "adapter": shared("adapter", partial(tiny_models.engine_adapter, base=made["2.5"]))}
