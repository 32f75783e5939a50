"""Real photographs of pages beside ohr's: what each costs two OCR engines, in words and in evidence.

    git clone https://github.com/Yuliang-Liu/MultimodalOCR
    python -m studies.photographs MultimodalOCR/MDPBench/demo_data WORK --out MINE.json

MDPBench's demo has 17 pages, each with three photographs, and their text in OmniDocBench's layout. Its images are not
part of ohr, and only names of pages and numbers are kept. `validate_images` fits kinds and severities on the pages of
one half; the pages of the other are then read under them, and the other way round. Text, titles, captions, headers and
footers of a page are its truth, and each block of at least LEAST words is a passage of evidence, kept as far as its
words are read in their order. Neither engine has a model of accents, so they are removed on both sides.

Readings are kept in WORK, so that a study that was stopped continues.
"""

import argparse
import json
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohr import seeds
from ohr.contracts import OcrBackend
from ohr.engine.progress import Quiet
from ohr.files.images import read_image
from ohr.metrics.lcs import lcs
from ohr.metrics.trust import COUNTS, page_trust
from ohr.noise_files.image_synthesis import noise_of
from ohr.noise_files.validate_images import validate_images
from ohr.registry import Registry
from ohr.statistics.clusters import Clusters
from ohr.statistics.comparison import Comparison, compare

KEPT = Path(__file__).parent / "kept" / "photographs.json"
LATIN = ("de", "en", "es", "fr", "id", "it", "nl", "pt")
READ = {"tesseract": LATIN, "rapidocr": (*LATIN, "zh")}
"""Prefixes of the pages that each engine reads."""
KINDS = ("off_axis", "uneven_illumination", "specular", "defocus", "small_roi", "secondary_capture", "cropped")
SHEETS = ("cluttered_background", "multi_doc", "warping", "folds", "shadows")
"""Kinds that imitate a camera with a sharp page, and those of the sheet and of its surroundings."""
PAGES, DRAWS, LEAST = 12, 3, 4
"""Photographs that a fit looks at, draws of a page, as many as it has photographs, and words of a passage."""
MARGIN = 0.05
"""Difference of a share that matters."""
BLOCKS = ("text_block", "title", "header", "footer", "figure_caption", "table_caption", "table_footnote")


@dataclass(frozen=True, slots=True)
class Source:
    """A page of the demo: its image, its photographs, and the text of its blocks in their order."""

    name: str
    clean: Path
    photographs: tuple[Path, ...]
    blocks: tuple[str, ...]


def plain(text: str) -> str:
    """Remove the accents of a text."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


def sources(folder: Path) -> list[Source]:
    """Read the pages whose clean image and at least one photograph are there."""
    (listing,) = folder.glob("*.json")
    truths = {
        Path(page["page_info"]["image_path"]).stem: page["layout_dets"] for page in json.loads(listing.read_text())
    }
    images = {path.stem: path for path in folder.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg", ".png")}
    found = []
    for name in sorted(name for name in truths if not any(name.startswith(f"{other}_") for other in truths)):
        taken = tuple(images[other] for other in sorted(truths) if other.startswith(f"{name}_") and other in images)
        if name in images and taken:
            blocks = sorted(
                (each for each in truths[name] if each["category_type"] in BLOCKS), key=lambda each: each["order"] or 0
            )
            found.append(
                Source(name, images[name], taken, tuple(plain(each["text"]) for each in blocks if each.get("text")))
            )
    return found


def fits(pages: Sequence[Source], work: Path) -> list[dict[str, Any]]:
    """Fit ohr's noises to the photographs of some pages; returns the rows of those that were looked at closely."""
    for page in pages:
        for photograph in page.photographs:
            for side, path in (("clean", page.clean), ("noisy", photograph)):
                link = work / side / f"{photograph.stem}{path.suffix.lower()}"
                link.parent.mkdir(parents=True, exist_ok=True)
                link.unlink(missing_ok=True)
                link.symlink_to(path.resolve())
    report = validate_images(work / "clean", work / "noisy", progress=Quiet(), kinds=(*KINDS, *SHEETS), most=PAGES)
    return [asdict(row) for row in report.rows if row.verdict != "far"]


class Readings:
    """Texts that engines read, kept in a file."""

    def __init__(self, path: Path) -> None:
        """Open the file, if there is one."""
        self.path = path
        self.texts: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}

    def text(self, engine: OcrBackend, name: str, image: Any) -> str:
        """Return what an engine reads; `image` makes the image where it has not yet been read."""
        key = f"{engine.kind} {name}"
        if key not in self.texts:
            (read,) = engine.recognise([image()])
            self.texts[key] = engine.written(read)
            self.path.write_text(json.dumps(self.texts))
        return self.texts[key]


def shares_kept(page: Source, text: str) -> list[float]:
    """Return the share of a page's words that was read, then that of each passage."""
    counts = dict(zip(COUNTS, page_trust(plain(text), "\n\n".join(page.blocks)), strict=True))
    passages = [block for block in page.blocks if len(block.split()) >= LEAST]
    shares = [counts["words_kept"] / max(counts["words_true"], 1), *(lcs(plain(text), block) for block in passages)]
    return [round(share, 4) for share in shares]


def _conditions(page: Source, kinds: Sequence[Mapping[str, Any]], repair: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield each condition of a page with the name of an image in it, and what makes that image."""
    clean = read_image(page.clean)
    yield "clean", page.name, lambda: clean
    for photograph in page.photographs:
        yield "photograph", photograph.stem, lambda photograph=photograph: read_image(photograph)
        yield (
            "photograph, flattened",
            f"{photograph.stem} flattened",
            lambda photograph=photograph: repair.treat(read_image(photograph), [], np.random.default_rng(0)).image,
        )
    for place, row in zip(("nearest noise", "second noise"), kinds, strict=False):
        for draw in range(DRAWS):
            rng = seeds.generator(draw, "photographs", row["kind"], page.name)
            noise = noise_of(row["kind"], round(row["severity"], 2))
            name = f"{page.name} {row['kind']} {noise.severity:g} {draw}"
            yield place, name, lambda noise=noise, rng=rng: noise.treat(clean, [], rng).image


def measure(folder: Path, work: Path) -> dict[str, Any]:
    """Fit, read and count; returns the fits of each half, and of each engine and page the shares by condition."""
    pages, work = sources(folder), work.resolve()
    halves = [pages[::2], pages[1::2]]
    kept_fits = work / "fits.json"
    if not kept_fits.exists():
        rows = [fits(half, work / f"half{number}") for number, half in enumerate(halves)]
        kept_fits.write_text(json.dumps(rows))
    rows = json.loads(kept_fits.read_text())
    readings, registry = Readings(work / "readings.json"), Registry()
    repair = registry.load("treatment", "dewarp")()
    shares: dict[str, dict[str, dict[str, list[list[float]]]]] = {}
    for engine_kind, prefixes in READ.items():
        engine = registry.load("ocr", engine_kind)()
        assert isinstance(engine, OcrBackend)
        by_page = shares.setdefault(engine_kind, {})
        for number, half in enumerate(halves):
            for page in (page for page in half if page.name.split("_")[0] in prefixes):
                by_condition: dict[str, list[list[float]]] = defaultdict(list)
                for condition, name, image in _conditions(page, rows[1 - number][:2], repair):
                    by_condition[condition].append(shares_kept(page, readings.text(engine, name, image)))
                by_page[page.name] = dict(by_condition)
    return {"pages": [page.name for page in pages], "fits": rows, "shares": shares}


CONDITIONS = ("clean", "photograph", "photograph, flattened", "nearest noise", "second noise")
"""Conditions of a page in the file of numbers."""
WORDS, EVIDENCE = slice(0, 1), slice(1, None)
"""Places of the share of words and of those of the passages among the numbers of an image."""
ByPage = Mapping[str, Mapping[str, Sequence[Sequence[float]]]]


def means(by_page: ByPage, condition: str, part: slice) -> tuple[NDArray[np.float64], list[str]]:
    """Return the mean share of each page's words, or of each passage, over the images of a condition; and the pages."""
    values, names = list[float](), list[str]()
    for name, by_condition in by_page.items():
        page = np.mean([image[part] for image in by_condition[condition]], axis=0)
        values += page.tolist()
        names += [name] * len(page)
    return np.array(values), names


def compared(by_page: ByPage, first: str, second: str, part: slice) -> Comparison:
    """Compare two conditions, pages as clusters; positive where the second keeps less."""
    (before, names), (after, _) = (means(by_page, condition, part) for condition in (first, second))
    return compare(before, after, Clusters.of(names), MARGIN)


def said(numbers: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield rows of a table: engine, what is kept, a condition, its mean, and what it loses against two others."""
    for engine, by_page in numbers["shares"].items():
        for what, part in (("words", WORDS), ("evidence", EVIDENCE)):
            for condition in CONDITIONS:
                mean = f"{means(by_page, condition, part)[0].mean():.2f}"
                sides = [compared(by_page, other, condition, part) for other in ("clean", "photograph")]
                yield engine, what, condition, mean, *(_interval(side) for side in sides)


def fitted(numbers: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield rows of a table: half, kind, severity with its interval, distance, verdict, worst feature."""
    for half, rows in zip(("first", "second"), numbers["fits"], strict=True):
        for row in rows:
            ends = f"{row['severity']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"
            worst = f"`{row['worst']}`"
            yield (
                half,
                f"`{row['kind']}`",
                ends,
                f"{row['distance']:.1f}",
                row["verdict"],
                worst,
            )


def _interval(side: Comparison) -> str:
    of = side.difference
    return f"{of.mean:+.2f} [{of.low:+.2f}, {of.high:+.2f}]" if side.verdict != "identical" else ""


def main() -> None:
    """Measure, keep the numbers, and print the rows of the page."""
    parser = argparse.ArgumentParser(description="Real photographs of pages beside ohr's.")
    parser.add_argument("folder", type=Path, help="MDPBench's demo_data")
    parser.add_argument("work", type=Path, help="a folder for what was read")
    parser.add_argument("--out", type=Path, required=True, help="a file; ours is studies/kept/photographs.json")
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    numbers = measure(chosen.folder, chosen.work)
    chosen.out.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for row in (*fitted(numbers), *said(numbers)):
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
