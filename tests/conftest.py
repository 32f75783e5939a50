import http.server
import json
import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from PIL import Image, ImageDraw, ImageFont

os.environ.setdefault("HF_HUB_OFFLINE", "1")
signal.signal(
    signal.SIGINT, signal.default_int_handler
)  # a suite in the background ignores Ctrl-C, and so would its runs
settings.register_profile("ohr", deadline=None)  # the first example may load a dictionary or a model
settings.load_profile("ohr")


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

    A reply is (status, headers, body); the status 0 stalls until the test ends.
    """

    url: str = ""
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
            if status == 0:
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
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield state
    state.done.set()
    server.shutdown()
    server.server_close()
    thread.join()


def tiny_tokenizer(specials: list[str], template: str) -> Any:
    """A tokenizer trained on one sentence."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(["When did the lease of the ferry berth begin? It began in 1964."] * 20, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<s>", eos_token="</s>", chat_template=template
    )


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory) -> Path:
    """A random Llama of two layers with a chat template, saved as any model is."""
    from transformers import LlamaConfig, LlamaForCausalLM, set_seed

    folder = tmp_path_factory.mktemp("model")
    template = "{% for m in messages %}<s>{{ m['role'] }}: {{ m['content'] }}</s>{% endfor %}<s>assistant: "
    fast = tiny_tokenizer(["<pad>", "<s>", "</s>"], template)
    fast.save_pretrained(folder)
    set_seed(0)
    config = LlamaConfig(
        vocab_size=len(fast),
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,  # of 32 dimensions each: vLLM's attention on CPUs has no narrower ones
        max_position_embeddings=8192,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_bge_m3(tmp_path_factory) -> Path:
    """A random XLM-RoBERTa with the two extra heads of BGE-M3."""
    from .tiny_models import bge_m3

    return bge_m3(tmp_path_factory.mktemp("bge_m3"))


@pytest.fixture(scope="session")
def tiny_reranker(tmp_path_factory) -> Path:
    """A random XLM-RoBERTa that scores pairs, as bge-reranker does."""
    from .tiny_models import reranker

    return reranker(tmp_path_factory.mktemp("reranker"))


@pytest.fixture(scope="session")
def tiny_colqwen(tmp_path_factory) -> Path:
    """A random ColQwen2."""
    from .tiny_models import colqwen

    return colqwen(tmp_path_factory.mktemp("colqwen"))


@pytest.fixture(scope="session")
def tiny_colpali(tmp_path_factory) -> Path:
    """A random ColPali."""
    from .tiny_models import colpali

    return colpali(tmp_path_factory.mktemp("colpali"))


@pytest.fixture(scope="session")
def tiny_qwen2_vl(tmp_path_factory) -> Path:
    """A random Qwen2-VL; its processor needs torchvision."""
    pytest.importorskip("torchvision")
    from .tiny_models import qwen2_vl

    return qwen2_vl(tmp_path_factory.mktemp("qwen2_vl"))


@pytest.fixture(scope="session")
def engine_models(tmp_path_factory) -> dict[str, Path]:
    """A random ColQwen2, a ColQwen2.5 and an adapter of that, in colpali-engine's form, which needs torchvision."""
    pytest.importorskip("torchvision")
    from .tiny_models import engine_adapter, engine_colqwen

    made = {v: engine_colqwen(tmp_path_factory.mktemp(f"engine{v}"), v) for v in ("2", "2.5")}
    return {**made, "adapter": engine_adapter(tmp_path_factory.mktemp("adapter"), made["2.5"])}


@pytest.fixture(scope="session")
def tiny_vision_model(tmp_path_factory) -> Path:
    """A random LLaVA of two layers, saved as any model is; images are 56 pixels a side, 16 patches."""
    from transformers import (
        CLIPImageProcessorPil,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
        set_seed,
    )

    folder = tmp_path_factory.mktemp("vision")
    template = (
        "{% for m in messages %}<s>{{ m['role'] }}: {% for c in m['content'] %}"
        "{{ '<image>' if c['type'] == 'image' else c['text'] }}{% endfor %}</s>{% endfor %}<s>assistant: "
    )
    tokenizer = tiny_tokenizer(["<pad>", "<s>", "</s>", "<image>"], template)
    sides = {"size": {"shortest_edge": 56}, "crop_size": {"height": 56, "width": 56}}
    LlavaProcessor(
        CLIPImageProcessorPil(**sides),
        tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        chat_template=template,
        num_additional_image_tokens=1,
    ).save_pretrained(folder)
    set_seed(0)
    layers = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    ends = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(**layers, image_size=56, patch_size=14),
        text_config=LlamaConfig(**layers, **ends, vocab_size=len(tokenizer), max_position_embeddings=512),
        vision_feature_layer=-1,
        image_token_id=3,
        **ends,
    )
    LlavaForConditionalGeneration(config).save_pretrained(folder)
    return folder
