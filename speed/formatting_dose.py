"""The effect of formatting noise on the evidence of OHRBench, beside the paper's doses: r_noise by rate and notation.

Law, manual and textbook documents, all their questions, one seed; a few minutes.

    OHRBENCH_DATA=DIR python speed/formatting_dose.py [share of the questions]
"""

import os
import sys
from pathlib import Path

from ohr import seeds
from ohr.benchmarks.ohrbench import OhrBench
from ohr.contracts import Page
from ohr.metrics.dose import by_page, dose, question_dose
from ohr.noise.formatting import ALL, Formatting, Rules

TEXT = Rules(bold=1, italic=1, underline=1, title=1, paragraph=1)
LEVELS = {0.5: (0.0, 0.1, 0.3, 0.6), 1.0: (0.6,), 0.0: (0.6,)}
PUBLISHED = {(0.5, 0.1): 0.15, (0.5, 0.3): 0.35, (0.5, 0.6): 0.62, (0.0, 0.6): 0.84}


class Study:
    """The pages that questions need, clean and with noise."""

    def __init__(self, root: Path, every: int) -> None:
        bench = OhrBench(root=root, protocol="reference")
        self.questions = bench.questions()[::every]
        asked = {(question.document, index) for question in self.questions for index in question.pages}
        pages = [page for document in bench.documents() for page in bench.pages(document)]
        self.pages = [page for page in pages if (page.document, page.index) in asked]
        self.truth = by_page(pages)

    def dose(self, noise: Formatting) -> tuple[float, float]:
        """Return r_noise and r_content, as doses.csv does."""
        noisy = {}
        for page in self.pages:
            rng = seeds.generator(0, noise.kind, page.document, page.index, 0)
            made = noise.perturb(page.text, [(0, len(page.text))], rng)
            noisy[page.document, page.index] = Page(page.document, page.index, made.text)
        found = dose([question_dose(q, self.truth, noisy, segment_chinese=False) for q in self.questions], [])
        return found.r_noise, found.r_content


def main(every: int) -> None:
    study = Study(Path(os.environ["OHRBENCH_DATA"]), every)
    print(f"{len(study.questions)} questions on {len(study.pages)} pages")
    print(f"{'rules':14}{'Markdown':>9}{'rate':>6}{'r_noise':>9}{'r_content':>11}{'paper':>7}")
    for name, rules in (("those of text", TEXT), ("all ten", ALL)):
        for markdown, rates in LEVELS.items():
            for rate in rates:
                r_noise, r_content = study.dose(Formatting(rate=rate, rules=rules, markdown=markdown))
                paper = PUBLISHED.get((markdown, rate)) if rules is TEXT else None
                published = f"{paper:7.2f}" if paper else ""
                print(f"{name:14}{markdown:9.1f}{rate:6.1f}{r_noise:9.3f}{r_content:11.3f}{published}", flush=True)


if __name__ == "__main__":
    main(round(1 / float(sys.argv[1])) if len(sys.argv) > 1 else 1)
