"""How each architecture is asked for the text of a page, and how its reply is read."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ohr.contracts import Recognition

from . import doctags

_FRONT_MATTER = re.compile(r"\A\s*---\n(?:\w+:[^\n]*\n)+---[ \t]*(?:\n|\Z)")
_MISSING_PAGE = re.compile(r"\[MISSING_PAGE_(?:EMPTY|FAIL|POST)(?::\d+)?\]")
GOT_TASKS = {"OCR:": False, "OCR with format:": True}
"""GOT's two tasks, and whether the reply has markup."""

Ask = Callable[[Any, Sequence[Any], str], Any]
"""Makes a model's inputs of its processor, page images and a prompt."""
Read = Callable[[Any, str], Recognition]
"""Reads a reply; the processor may have a way of its own."""


def _chat(processor: Any, images: Sequence[Any], prompt: str) -> Any:
    """Ask in the model's chat template, or, where it has none, with the picture before the words."""
    if processor.chat_template is None:
        text = f"{processor.image_token}\n{prompt}"
    else:
        content = [{"type": "image"}, *([{"type": "text", "text": prompt}] if prompt else [])]
        message = [{"role": "user", "content": content}]
        text = processor.apply_chat_template(message, tokenize=False, add_generation_prompt=True)
    processor.tokenizer.padding_side = "left"
    # one list for each text: some processors take a plain list for the images of the first
    shown = [[image] for image in images]
    return processor(text=[text] * len(images), images=shown, padding=True, return_tensors="pt")


def _got(processor: Any, images: Sequence[Any], prompt: str) -> Any:
    return processor(list(images), format=GOT_TASKS[prompt], padding=True, return_tensors="pt")


def _nougat(processor: Any, images: Sequence[Any], prompt: str) -> Any:  # noqa: ARG001 # it takes none
    return processor(images=list(images), return_tensors="pt")


def _florence2(processor: Any, images: Sequence[Any], prompt: str) -> Any:
    return processor(text=[prompt] * len(images), images=list(images), padding=True, return_tensors="pt")


def _kosmos(processor: Any, images: Sequence[Any], prompt: str) -> Any:
    made = processor(text=[prompt] * len(images), images=list(images), return_tensors="pt")
    for name in ("height", "width"):  # sizes after scaling, which the model does not take
        made.pop(name, None)
    return made


def _markdown(processor: Any, reply: str) -> Recognition:  # noqa: ARG001 # as every reader's
    """Read Markdown or plain text; olmOCR's front matter is not part of the page."""
    return Recognition(_FRONT_MATTER.sub("", reply).strip())


def _docling(processor: Any, reply: str) -> Recognition:  # noqa: ARG001
    return Recognition(blocks=doctags.blocks(reply))


def _mathpix(processor: Any, reply: str) -> Recognition:
    """Read Nougat's Markdown; a page of which it reports nothing but that it is missing has failed."""
    text = processor.post_process_generation(reply, fix_markdown=False)
    kept = _MISSING_PAGE.sub("", text).strip()
    if not kept and (marker := _MISSING_PAGE.search(reply) or _MISSING_PAGE.search(text)):
        return Recognition("", f"the model reports a missing page: {marker[0]}")
    return Recognition(kept)


@dataclass(frozen=True, slots=True)
class Preset:
    """A way to ask a model.

    Args:
        loader: the class of transformers that loads the model.
        end: a token that ends a reply besides those of the model's configuration.
        tagged: the reply's markup is made of special tokens.
        words: modules that reading the reply needs.
        banned: never reply with the token for unknown words.
    """

    ask: Ask
    read: Read
    loader: str = "AutoModelForImageTextToText"
    end: str = ""
    tagged: bool = False
    words: tuple[str, ...] = ()
    banned: bool = False


PRESETS = {
    "chat": Preset(_chat, _markdown),
    "docling": Preset(_chat, _docling, tagged=True),
    "got": Preset(_got, _markdown, end="<|im_end|>"),
    # its own post-processing cuts repeated references (Blecher et al., arXiv:2308.13418)
    "nougat": Preset(_nougat, _mathpix, "VisionEncoderDecoderModel", words=("nltk", "Levenshtein"), banned=True),
    "florence2": Preset(_florence2, _markdown),
    "kosmos2_5": Preset(_kosmos, _markdown),
}
"""Presets by name."""
