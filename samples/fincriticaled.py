"""Builds the sample of FinCriticalED: six invented pages, with predictions, a judge's replies and annotations.

`python -m samples.fincriticaled` draws `source/page_{i}.typ` with typst and reads `source/gold_{i}.html`, the same page
with its facts tagged; it writes `sample/` in the published layout when the words of both agree. The output is
deterministic: same sources, same fonts, same versions of typst and Pillow, same bytes. All names, companies and figures
are invented.
"""

import csv
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path
from typing import Any

from ohr.benchmarks.fincriticaled.facts import TYPES, extract_entities, strip_entity_tags
from ohr.benchmarks.fincriticaled.page_texts import parse, seen_text, strip_html_tags

from . import BENCHMARKS, folder_to_write, put, small_png, texts_of_pages, typeset

SOURCE, SAMPLE = BENCHMARKS / "fincriticaled/source", BENCHMARKS / "fincriticaled/sample"
PAGES = range(6)
DOCUMENT_TYPES = ("sec_filings", "sec_filings", "legal", "statements", "legal", "tax_forms")
DPI = 110
COLORS = 32  # of the palette, which keeps a page below 80 KB

_FONTS = ("font_hanken_grotesk", "matplotlib")
_TAG = re.compile(r"<(/?)([a-z][a-z0-9]*)[^>]*>")
_KEPT = frozenset(("html", "body", "h1", "h2", "h3", "p", "table", "tr", "th", "td"))
"""Tags that the prompt allows a model."""


def draw(index: int) -> bytes:
    """Draw a page as a PNG with a palette."""
    from PIL import Image as Pillow

    with Pillow.open(io.BytesIO(_compiled(index, "png"))) as opened:
        return small_png(opened.convert("RGB"), COLORS)


def faults(index: int, tagged: str) -> Iterator[str]:
    """Yield what is wrong with a page: words that only the drawing has, or only the HTML."""
    texts = texts_of_pages(_compiled(index, "pdf"))
    drawn, written = _characters("".join(texts)), _characters(seen_text(tagged))
    if len(texts) != 1:
        yield f"page_{index}.typ has {len(texts)} pages"
    if drawn != written:
        yield f"page {index}: only drawn: {dict(drawn - written)}, only in HTML: {dict(written - drawn)}"


def _characters(text: str) -> Counter[str]:
    """Count letters and digits, and signs of numbers; leaders and bullets are drawn only."""
    return Counter(character for character in text if character.isalnum() or character in "$€%(),-/")


def _compiled(index: int, form: str) -> bytes:
    return typeset(SOURCE / f"page_{index}.typ", SOURCE, _FONTS, format=form, ppi=DPI)


def exact(html: str) -> str:
    """Return a page as a perfect model transcribes it: with the allowed tags only, and without attributes."""
    kept = _TAG.sub(lambda tag: f"<{tag[1]}{tag[2]}>" if tag[2] in _KEPT else "\n" if tag[2] == "br" else "", html)
    return unescape(kept).replace("&", "&amp;")


def without_commas(html: str) -> str:
    """Return an exact transcription whose numbers have lost their commas."""
    return re.sub(r"(?<=\d),(?=\d)", "", exact(html))


def merged_cells(html: str) -> str:
    """Return an exact transcription as text, a line for each row, whose cells follow each other without a space."""
    lines = re.sub(r"</t[dh]>\s*<t[dh]>", "", exact(html)).replace("\n", " ")
    lines = re.sub(r"</(?:tr|p|h\d)>", "\n", lines)
    return "\n".join(filter(None, (unescape(_TAG.sub("", line)).strip() for line in lines.split("\n")))) + "\n"


def truncated(html: str) -> str:
    """Return the first three fifths of an exact transcription, as of a model that has reached its limit."""
    made = exact(html)
    return made[: len(made) * 3 // 5]


MODELS = (exact, without_commas, merged_cells, truncated)


def reply(index: int, tagged: str) -> str:
    """Return a judge's reply about the prediction without commas, with the weaknesses that judges have."""
    entities = extract_entities(tagged)
    text = strip_html_tags(without_commas(strip_entity_tags(tagged)))
    verdicts = [_verdict(entity, text) for entity in entities]
    if index == 0:  # two are left out, and the counts are wrong
        del verdicts[8:10]
    if index == 2:  # another text is quoted for a value that is there
        name = next(verdict for verdict in verdicts if verdict["value"].startswith("Castellan"))
        name |= {"correct": False, "matched_text": "Castellan Harbor"}
    if index == 5:  # nothing is found but a fact that is not in the list
        verdicts = [
            verdict | {"found_in_prediction": False, "correct": False, "matched_text": ""} for verdict in verdicts
        ]
        verdicts.append({"type": "Number", "value": "2023", "context_hint": "Form 990", **_found("2023", True)})
    made = json.dumps(_counted(verdicts, len(entities)), indent=1, ensure_ascii=False)
    if index == 1:
        return f"Here is the result of the inspection:\n\n```json\n{made}\n```\n"
    return made[: len(made) * 2 // 3] if index == 3 else made + "\n"


def _verdict(entity: Any, text: str) -> dict[str, Any]:
    bare = entity["value"].replace(",", "")
    quoted = next((value for value in (entity["value"], bare) if value in text), "")
    return {**entity, **_found(quoted, quoted == entity["value"])}


def _found(quoted: str, correct: bool) -> dict[str, Any]:
    return {"found_in_prediction": bool(quoted), "correct": correct, "matched_text": quoted}


def _counted(verdicts: Sequence[dict[str, Any]], total: int) -> dict[str, Any]:
    """Return a whole reply; a judge counts badly, so that each count is one too high."""
    found = sum(verdict["found_in_prediction"] for verdict in verdicts)
    correct = sum(verdict["correct"] for verdict in verdicts)
    return {
        "total_entities": total,
        "found_entities": found + 1,
        "correct_entities": correct + 1,
        "entity_accuracy": round(100 * correct / found, 2) if found else 0.0,
        "overall_explanation": "The text keeps most names and dates; many numbers have lost their commas.",
        "entity_diagnostics": list(verdicts),
    }


def spans(tagged: str) -> list[dict[str, Any]]:
    """Return the tagged facts of a page as Label Studio exports them: by the XPath of a text and an offset in it."""
    found: list[dict[str, Any]] = []
    _walk(parse(tagged).html, "", found)
    return [{name: value for name, value in one.items() if name != "open"} for one in found]


def _walk(element: Any, path: str, found: list[dict[str, Any]]) -> None:
    """Append the facts below an element; their tags are not in the page that annotators see, so its texts run on."""
    state = {"texts": 0, "offset": 0, "in_text": False}
    children: Counter[str] = Counter()

    def visit(node: Any) -> None:
        for child in node.children:
            if child.name in TYPES:
                one: dict[str, Any] = {"labels": [TYPES[child.name]], "text": child.get_text(), "open": True}
                found.append(one)
                visit(child)
                one["open"] = False
            elif child.name:
                state["in_text"] = False
                children[child.name] += 1
                _walk(child, f"{path}/{child.name}[{children[child.name]}]", found)
            else:
                read(len(child))

    def read(length: int) -> None:
        if not state["in_text"]:
            state.update(texts=state["texts"] + 1, offset=0, in_text=True)
        here = f"{path}/text()[{state['texts']}]"
        for one in (one for one in found if one["open"]):
            one.setdefault("start", here)
            one.setdefault("startOffset", state["offset"])
            one.update(end=here, endOffset=state["offset"] + length)
        state["offset"] += length

    visit(element)


def annotations(pages: Sequence[str]) -> list[dict[str, Any]]:
    """Return an export of three annotators: 4, whose spans are the gold facts, and two that differ here and there."""
    tasks = []
    for number, tagged in enumerate(pages, start=1):
        gold = spans(tagged)
        others = {2: [_as_2(one) for i, one in enumerate(gold) if i % 7 != 6], 4: gold}
        others[9] = [_as_9(one) for i, one in enumerate(gold) if i % 13 != 12]
        made = [
            {"id": 10 * number + who, "completed_by": who, "result": [_result(i, one) for i, one in enumerate(marked)]}
            for who, marked in others.items()
        ]
        tasks.append({"id": number, "data": {"matched_html": strip_entity_tags(tagged)}, "annotations": made})
    return tasks


def _as_2(one: dict[str, Any]) -> dict[str, Any]:
    """Take a scale for a number."""
    return one | {"labels": ["Number"]} if one["text"] in ("million", "Dollars in thousands") else one


def _as_9(one: dict[str, Any]) -> dict[str, Any]:
    """Leave the abbreviation out of a name."""
    name, bracket, rest = one["text"].partition(" (")
    return one | {"text": name, "endOffset": one["endOffset"] - len(bracket + rest)} if '"' in rest else one


def _result(number: int, one: dict[str, Any]) -> dict[str, Any]:
    return {"id": f"span{number}", "from_name": "label", "to_name": "page", "type": "labels", "value": one}


def write(folder: Path, pages: Sequence[str]) -> None:
    """Write a sample."""
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(("id", "image_path", "document_type", "matched_html"))
    for index, tagged in enumerate(pages):
        html, image = strip_entity_tags(tagged), f"images/page_{index}.png"
        rows.writerow((index, image, DOCUMENT_TYPES[index], html))
        put(folder / image, draw(index))
        put(folder / f"gold_annotation_html/gold_{index}.txt", tagged)
        put(folder / f"judge/reply_{index}.txt", reply(index, tagged))
        for model in MODELS:
            put(folder / f"results/{model.__name__}_zero-shot/pred_{index}.txt", model(html))
    put(folder / "raw_input.csv", table.getvalue())
    tasks = ",\n".join(json.dumps(task, ensure_ascii=False) for task in annotations(pages))
    put(folder / "annotations.json", f"[\n{tasks}\n]\n")


def main(arguments: Sequence[str]) -> int:
    """Check the sources and write the sample; return 1 where they have faults."""
    folder = folder_to_write(__doc__, arguments, SAMPLE)
    pages = [(SOURCE / f"gold_{index}.html").read_text(encoding="utf-8") for index in PAGES]
    found = [fault for index, tagged in enumerate(pages) for fault in faults(index, tagged)]
    if not found:
        write(folder, pages)
    sys.stderr.write("".join(f"{fault}\n" for fault in found))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
