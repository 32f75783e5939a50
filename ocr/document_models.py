"""Document models by short name; how each architecture is asked for the text of a page, and how its reply is read."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ohr import extras
from ohr.contracts import Block, Recognition
from ohr.files.json_input import mapping_in
from ohr.markup import html
from ohr.markup.tables import Cell, Piece, Table
from ohr.models.model_files import Catalog

from .formats.values import kind_of

_NAMES = (
    "text|paragraph|checkbox_selected|checkbox_unselected|title|list_item|code|formula|caption|footnote|page_header"
    r"|page_footer|otsl|chart|section_header_level_\d"
)
"""Tags of blocks; those around several of them, such as lists and pictures, are left out."""
_BLOCK = re.compile(
    r"<(?P<grid>otsl|chart)>(?P<cells>.*?)(?:</(?P=grid)>|\Z)"  # its caption is inside
    rf"|<(?P<tag>{_NAMES})>(?P<text>.*?)(?:</(?P=tag)>|(?=<(?:{_NAMES})>)|\Z)",
    re.DOTALL,
)
_GRIDS = ("otsl", "chart")
_PLACE = re.compile(r"<loc_\d+>")
_TAG = re.compile(r"</?[a-z_0-9]+>")
_CAPTION = re.compile(r"<caption>(.*?)</caption>", re.DOTALL)
_CELL = re.compile(r"<(fcel|ched|rhed|srow|ecel|lcel|ucel|xcel|nl)>([^<]*)")
_HEADERS = ("ched", "rhed", "srow")


def doctag_blocks(reply: str) -> tuple[Block, ...]:
    """Read a reply; one without a tag is a single text, and a last block that was cut is kept as far as it goes."""
    reply = _PLACE.sub("", reply)
    found = [
        block
        for match in _BLOCK.finditer(reply)
        for block in _blocks(match["grid"] or match["tag"], match["cells"] or match["text"] or "")
    ]
    if not found and (text := _plain(reply)):
        return (Block("text", text),)
    return tuple(found)


def _blocks(tag: str, inside: str) -> Iterator[Block]:
    if tag in _GRIDS:
        yield from (Block("caption", text) for match in _CAPTION.finditer(inside) if (text := _plain(match[1])))
        inside = _CAPTION.sub("", inside)
        if table := _table(inside):
            yield Block("table", table)
            return
    text = _plain(inside)
    if not text:
        return
    if tag.startswith("section_header"):
        yield Block("heading", text, int(tag[-1]) + 1)  # the title has level 1
    elif tag == "title":
        yield Block("heading", text, 1)
    elif tag == "list_item":
        yield Block("list", text if text.startswith(("-", "*")) or text[:1].isdigit() else f"- {text}")
    elif tag == "formula":
        yield Block("formula", f"$$\n{text}\n$$")
    elif tag == "code":
        yield Block("code", f"```\n{text}\n```")
    else:
        yield Block("table" if tag in _GRIDS else kind_of(tag), text)


def _plain(text: str) -> str:
    return _TAG.sub("", text).strip()


def _table(otsl: str) -> str:
    """Write a table in OTSL (Lysak et al., arXiv:2305.03393) as HTML; empty where there is none."""
    rows: list[list[tuple[str, str]]] = [[]]
    for match in _CELL.finditer(otsl):
        if match[1] == "nl":
            rows.append([])
        else:
            rows[-1].append((match[1], match[2].strip()))
    rows = [row for row in rows if row]
    if not rows:
        return ""
    cells = tuple(
        Cell(
            down,
            right,
            (Piece("text", text),) if text else (),
            _run(rows, down, right, 1, 0),
            _run(rows, down, right, 0, 1),
            kind in _HEADERS,
        )
        for down, row in enumerate(rows)
        for right, (kind, text) in enumerate(row)
        if kind not in ("lcel", "ucel", "xcel")
    )
    return html.write(Table(len(rows), max(map(len, rows)), cells), [])


def _run(rows: list[list[tuple[str, str]]], down: int, right: int, step_down: int, step_right: int) -> int:
    """Count the places of a cell downwards or to the right: those after the first continue it."""
    wanted, count = "ucel" if step_down else "lcel", 1
    while True:
        row, column = down + step_down * count, right + step_right * count
        if row >= len(rows) or column >= len(rows[row]) or rows[row][column][0] != wanted:
            return count
        count += 1


MODELS = Catalog(
    {
        "got-ocr2": "stepfun-ai/GOT-OCR-2.0-hf",
        "nougat-base": "facebook/nougat-base",
        "nougat-small": "facebook/nougat-small",
        "qwen2.5-vl-7b": "Qwen/Qwen2.5-VL-7B-Instruct",
        "qwen2.5-vl-72b": "Qwen/Qwen2.5-VL-72B-Instruct",
        "qwen3-vl-8b": "Qwen/Qwen3-VL-8B-Instruct",
        "internvl3-8b": "OpenGVLab/InternVL3-8B-hf",
        "internvl3-78b": "OpenGVLab/InternVL3-78B-hf",
        "olmocr2": "allenai/olmOCR-2-7B-1025",
        "smoldocling": "ds4sd/SmolDocling-256M-preview",
        "granite-docling": "ibm-granite/granite-docling-258M",
        "paddleocr-vl": "PaddlePaddle/PaddleOCR-VL",
        "lightonocr": "lightonai/LightOnOCR-1B-1025",
        "glm-ocr": "zai-org/GLM-OCR",
        "florence-2-large": "florence-community/Florence-2-large",
        "kosmos-2.5": "microsoft/kosmos-2.5",
    }
)
"""Document models by short name: those of OHRBench's tables that transformers runs, and their successors."""


class Architecture(NamedTuple):
    """How models of one `model_type` are asked by default.

    Args:
        preset: name of a preset.
        prompt: name of one of ohr's prompts, or a task that the model was trained on; None where it takes none.
        videos: its processor reads videos too, for which it needs torchvision.
    """

    preset: str = "chat"
    prompt: str | None = "ohrbench"
    videos: bool = False


ARCHITECTURES = {
    "got_ocr2": Architecture("got", "OCR with format:"),
    "vision-encoder-decoder": Architecture("nougat", None),
    "florence2": Architecture("florence2", "<OCR>"),
    "kosmos-2.5": Architecture("kosmos2_5", "<md>"),
    "idefics3": Architecture("docling", "Convert this page to docling."),
    "granite_docling": Architecture("docling", "Convert this page to docling."),
    "paddleocr_vl": Architecture(prompt="OCR:"),
    "lighton_ocr": Architecture(prompt=""),
    "deepseek_ocr2": Architecture(prompt="Free OCR."),
    "glm_ocr": Architecture(prompt="Text Recognition:", videos=True),
    "qwen2_vl": Architecture(videos=True),
    "qwen2_5_vl": Architecture(videos=True),
    "qwen3_vl": Architecture(videos=True),
    "qwen3_vl_moe": Architecture(videos=True),
    "internvl": Architecture(videos=True),
}
"""Architectures by `model_type`; any other is asked by its chat template."""

PROMPTS = {"olmocr2": "olmocr"}
"""Prompts of models that were trained on one, by short name."""


def prompt_of(model: str, architecture: Architecture) -> str | None:
    """Return the prompt that a model is asked with by default."""
    by_hub = {MODELS.names[name]: prompt for name, prompt in PROMPTS.items()}
    return by_hub.get(MODELS.location(model), architecture.prompt)


def model_type(model: str, revision: str | None) -> str:
    """Return the `model_type` of a model that `Catalog.check` has found; reads no more than its configuration."""
    place = MODELS.location(model)
    if MODELS.is_local(model):
        path = Path(place) / "config.json"
    else:
        path = Path(_downloaded(extras.load("huggingface_hub", "llm"), place, revision))
    return str(mapping_in(path).get("model_type", ""))


def _downloaded(library: Any, name: str, revision: str | None) -> str:
    """Return the configuration's place in the hub's cache, or an empty path where there is none."""
    try:
        return str(library.hf_hub_download(name, "config.json", revision=revision, local_files_only=True))
    except Exception:  # the hub's client passes on whatever goes wrong; loading the model reports it
        return ""


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
    return Recognition(blocks=doctag_blocks(reply))


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
