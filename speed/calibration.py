"""How near calibration comes to its targets: mini (text noise, and image noise read by Tesseract), and real data.

Arguments name cases; a target that cannot be reached ends its case with the range that can be.

The real data are those of the folder that OHRBENCH_DATA names; DOCUMENTS limits them (all by default).
"""

import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from ohr.engine.progress import Quiet
from ohr.errors import SpecError
from ohr.runner.run import calibrated
from ohr.spec.read import read_spec

WORKERS = int(os.environ.get("WORKERS", "1"))
DOCUMENTS = int(os.environ.get("DOCUMENTS", "0")) or None

SPEC = """\
replicates: {replicates}
benchmark: {benchmark}
knowledge_bases:
  - {{name: {name}, {noise}}}
retrievers: [{{kind: bm25}}]
evaluate: [retrieval]
"""

CASES = {
    "text": ("mini text", 5, "{kind: mini}", "text_noise: {kind: formatting, target_r_noise: [0.1, 0.2, 0.3, 0.4]}"),
    "loss": ("mini loss", 5, "{kind: mini}", "text_noise: {kind: formatting, target_evidence_loss: [0.02, 0.05, 0.1]}"),
    "table": (
        "mini source",
        5,
        "{kind: mini}",
        "text_noise: {kind: formatting, target_r_noise: 0.15, target_source: [text, reading_order]}",
    ),
    "channel": ("mini channel", 5, "{kind: mini}", "text_noise: {kind: channel, target_r_noise: [0.2, 0.4, 0.6]}"),
    "ocr": (
        "mini OCR",
        1,
        "{kind: mini, languages: [en], domains: [law, finance], max_pages: 1, dpi: 100}",
        "image_noise: {kind: salt_and_pepper, target_r_noise: [0.75, 0.85, 0.95]}, ocr: {kind: tesseract}",
    ),
    "ocr_blur": (
        "mini OCR blur",
        1,
        "{kind: mini, languages: [en], domains: [law, finance], max_pages: 1, dpi: 100}",
        "image_noise: {kind: psf_blur, target_r_noise: [0.8, 0.9]}, ocr: {kind: tesseract}",
    ),
    "unreachable": (
        "mini unreachable",
        1,
        "{kind: mini, languages: [en]}",
        "text_noise: {kind: formatting, target_r_noise: 0.99}",
    ),
    "real_few": (
        "real 60 questions",
        3,
        f"{{kind: ohrbench, root: {os.environ.get('OHRBENCH_DATA', '')}}}",
        "text_noise: {kind: channel, target_evidence_loss: [0.1, 0.3]}",
    ),
    "real_channel": (
        "real channel",
        1,
        f"{{kind: ohrbench, root: {os.environ.get('OHRBENCH_DATA', '')}}}",
        "text_noise: {kind: channel, target_r_noise: [0.3, 0.5]}",
    ),
    "real": (
        "real text",
        3,
        f"{{kind: ohrbench, root: {os.environ.get('OHRBENCH_DATA', '')}}}",
        "text_noise: {kind: formatting, target_r_noise: [0.2, 0.4, 0.6]}",
    ),
}

FEWER = {"real_few": ("sample=60",)}

if __name__ == "__main__":
    names = sys.argv[1:] or [name for name in CASES if not name.startswith("real") or "OHRBENCH_DATA" in os.environ]
    for case in names:
        name, replicates, benchmark, noise = CASES[case]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "spec.yaml"
            path.write_text(SPEC.format(replicates=replicates, benchmark=benchmark, name=case, noise=noise))
            began = perf_counter()
            limit = DOCUMENTS if case.startswith("real") else None
            try:
                spec = calibrated(
                    read_spec(path, FEWER.get(case, ())),
                    store=Path(folder) / "store",
                    workers=WORKERS,
                    limit=limit,
                    progress=Quiet(),
                )
            except SpecError as error:
                print(f"{name:17} {error}", flush=True)
                continue
            seconds = perf_counter() - began
        for found in spec.calibrations:
            print(
                f"{name:17} {found.noise:28} target {found.target.value:.2f} got {found.achieved:.4f} "
                f"off {abs(found.achieved - found.target.value):.4f} (limit {found.tolerance:.4f}) "
                f"in {len(found.passes)} passes, {found.questions} questions, {len(found.seeds)} seeds",
                flush=True,
            )
        print(f"{name:17} {seconds:.0f} s with {WORKERS} workers", flush=True)
