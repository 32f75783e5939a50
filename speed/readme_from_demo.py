"""Writes what the README shows of `ohr demo`: its figure, the numbers beside it, and the first lines that it prints.

The numbers come from `docs/images/quickstart.json`, which is made from a finished run of the demo together with the
figure: `python -m speed.readme_from_demo runs/quickstart/<time>-<key>`.
"""

import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from ohr.report.headlines import findings
from ohr.results.derived.losses import Loss, distinctive, read_losses
from ohr.results.run import Run

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "docs" / "images" / "quickstart.json"
README = ROOT / "README.md"


def record(folder: Path) -> list[Loss]:
    """Return the losses of retrieval in a run of the demo."""
    return [loss for loss in distinctive(read_losses(Run(folder))) if loss.stage == "retrieval"]


def recorded() -> list[Loss]:
    """Return the losses that the README was made from."""
    return [Loss(**row) for row in json.loads(RECORD.read_text(encoding="utf-8"))]


def parts(losses: Sequence[Loss]) -> Mapping[str, str]:
    """Write the parts of the README, by name."""
    found = {(loss.noise, loss.level): loss for loss in losses if loss.retriever == "bm25"}
    formatting, blur = (max(key for key in found if key[0] == noise) for noise in ("formatting", "blur"))
    clean, edited, blurred = (round(100 * share) for share in (
        found[blur].clean, found[formatting].mean, found[blur].mean
    ))  # fmt: skip
    documents = found[blur].documents
    picture = f"""\
The picture shows scores against the share of questions whose evidence is damaged in the knowledge base: the first pages
of {documents} documents, one draw of each level, answers by a baseline without a language model. BM25 finds
{clean}% of the evidence's words on clean text, {edited}% under the heaviest formatting noise, and {blurred}% when
Tesseract reads heavily blurred pages; the bands are 95% intervals over documents. Read it as an example of the output,
not as a finding about OCR.
"""
    return {"picture": picture, "findings": "\n".join(["```text", *findings(losses), "```", ""])}


def placed(text: str, made: Mapping[str, str]) -> str:
    """Put the parts between their marks, `<!-- demo: NAME -->` and `<!-- end of NAME -->`."""
    for name, part in made.items():
        between = re.compile(rf"(<!-- demo: {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
        text = between.sub(r"\g<1>" + part.replace("\\", r"\\") + r"\g<2>", text)
    return text


def main(folder: Path) -> None:
    """Make the figure, the record and the README's parts of a finished run."""
    losses = record(folder)
    shutil.copyfile(folder / "figures" / "performance.png", RECORD.with_suffix(".png"))
    RECORD.write_text(json.dumps([asdict(loss) for loss in losses], indent=1) + "\n", encoding="utf-8")
    README.write_text(placed(README.read_text(encoding="utf-8"), parts(losses)), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
