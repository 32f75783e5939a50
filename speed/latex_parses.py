"""Whether LaTeX that parsed still parses after formatting noise: every real page, all rules, the published rates.

About a quarter of an hour for all pages; each page that breaks is named.

    OHRBENCH_DATA=DIR python speed/latex_parses.py [share of the pages]
"""

import json
import os
import sys
import warnings
from pathlib import Path

RATES = (0.1, 0.3, 0.6)


def pages(root: Path) -> dict[str, str]:
    """Return the text of each page that has any, by document and number."""
    return {
        f"{path.parent.name}/{path.stem}#{place}": page["text"]
        for path in sorted((root / "retrieval_base" / "gt").glob("*/*.json"))
        for place, page in enumerate(json.loads(path.read_text(encoding="utf-8")))
        if page["text"].strip()
    }


def parses(text: str) -> bool:
    from pylatexenc.latexwalker import LatexWalker, LatexWalkerParseError

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            LatexWalker(text, tolerant_parsing=False).get_latex_nodes()
        except LatexWalkerParseError:
            return False
    return True


def main(every: int) -> int:
    import numpy as np

    from ohr.noise.formatting import Formatting

    real = dict(list(pages(Path(os.environ["OHRBENCH_DATA"])).items())[::every])
    sound = [name for name, text in real.items() if parses(text)]
    print(f"{len(sound)} of {len(real)} pages parse without noise", flush=True)
    broken = 0
    for rate in RATES:
        noise, edits, lost = Formatting(rate=rate), 0, []
        for place, name in enumerate(sound):
            made = noise.perturb(real[name], [(0, len(real[name]))], np.random.default_rng(place))
            edits += len(made.edits)
            if not parses(made.text):
                lost.append(name)
                print(f"  rate {rate}: {name} no longer parses", flush=True)
        print(f"rate {rate}: {edits / len(sound):.0f} edits a page, {len(lost)} pages no longer parse", flush=True)
        broken += len(lost)
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main(round(1 / float(sys.argv[1])) if len(sys.argv) > 1 else 1))
