"""Writes what README and docs/index.md show of `ohr demo`: its figure, the numbers beside it, and its first lines.

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
from textwrap import fill

from ohr.report.headlines import findings
from ohr.results.derived.losses import Loss, distinctive, read_losses
from ohr.results.run import Run

ROOT = Path(__file__).parents[1]
FIGURE = "summary.png"
RECORD = ROOT / "docs" / "images" / "quickstart.json"
PAGES = (ROOT / "README.md", ROOT / "docs" / "index.md")


def record(folder: Path) -> list[Loss]:
    """Return the losses of retrieval in a run of the demo."""
    return [loss for loss in distinctive(read_losses(Run(folder))) if loss.stage == "retrieval"]


def recorded() -> list[Loss]:
    """Return the losses that the pages were made from."""
    return [Loss(**row) for row in json.loads(RECORD.read_text(encoding="utf-8"))]


def parts(losses: Sequence[Loss]) -> Mapping[str, str]:
    """Write the parts of the pages, by name."""
    formatting, blur = (
        max((loss for loss in losses if loss.noise == noise), key=lambda loss: float(loss.level))
        for noise in ("formatting", "blur")
    )
    picture = (
        f"{blur.pairs} questions are asked of the first pages of {blur.documents} documents, with one draw of each "
        f"level of noise. BM25 finds {blur.clean:.0%} of the evidence's words on clean text, {formatting.mean:.0%} "
        f"under the heaviest formatting noise, and {blur.mean:.0%} when Tesseract reads heavily blurred pages. The "
        "documents were written for ohr: the numbers show what a run says, not what OCR costs in practice."
    )
    return {"picture": f"{fill(picture, 120)}\n", "findings": "\n".join(["```text", *findings(losses), "```", ""])}


def placed(text: str, made: Mapping[str, str], kind: str = "demo") -> str:
    """Put the parts between their marks, `<!-- KIND: NAME -->` and `<!-- end of NAME -->`."""
    for name, part in made.items():
        between = re.compile(rf"(<!-- {kind}: {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
        text = between.sub(r"\g<1>" + part.replace("\\", r"\\") + r"\g<2>", text)
    return text


def main(folder: Path) -> None:
    """Make the figure, the record and the parts of the pages of a finished run."""
    losses = record(folder)
    shutil.copyfile(folder / "figures" / FIGURE, RECORD.with_suffix(".png"))
    RECORD.write_text(json.dumps([asdict(loss) for loss in losses], indent=1) + "\n", encoding="utf-8")
    for page in PAGES:
        page.write_text(placed(page.read_text(encoding="utf-8"), parts(losses)), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
