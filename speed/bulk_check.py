"""Open, read and render every PDF of a folder, and convert every engine's results: what crashes, hangs or is lost.

    python speed/bulk_check.py FOLDER [--reference FOLDER] [--seconds 120] [--gigabytes 4] [--dpi 72] [--workers 2]

PDFs are taken from anywhere below FOLDER; results from folders named after a format (`FOLDER/docling/...`). Each file
is read in a process of its own with limits of time and memory. Words are compared with a text of the same name beside
the PDF or below the reference folder, or with pdftotext where it is installed. A refusal with a sentence of ohr's is no
crash. The exit status is 1 if anything crashed or ran out of time or memory.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import get_args

from ohr.errors import OhrError
from ohr.files import pdf
from ohr.files.pdf_text import text_layer
from ohr.ocr.formats.known import FormatName
from ohr.ocr.precomputed import Precomputed
from ohr.text.layer import clean_layer
from ohr.text.words import words

FORMATS = set(get_args(FormatName))


def look_at_pdf(path, dpi):
    """Return what a PDF gives: pages, pages that fail in each way, glyphs without Unicode, its text."""
    pages, errors = pdf.page_count(path), {}
    layers = list(text_layer(path))
    for index in range(pages):
        try:
            pdf.render(path, index, dpi)
        except OhrError as error:
            errors[index] = str(error)
    unreadable = {index for index, layer in enumerate(layers) if layer.error}
    return {
        "pages": pages,
        "lost": len(unreadable | set(errors)) + max(pages - len(layers), 0),
        "unknown": sum(layer.unknown for layer in layers),
        "text": "\n".join(clean_layer([layer.text for layer in layers])),
    }


def convert(path, format):
    """Return what the results of one file give, alone in a folder."""
    with TemporaryDirectory() as folder:
        shutil.copy(path, folder)
        reader = Precomputed(root=Path(folder), format=format)
        reader.check()
        documents = reader.documents()
        reader.notes(documents)
        read = [page for document in documents for page in reader.recorded(document)]
    refused = next((page.error for page in read if page.error), "")
    if read and all(page.error for page in read):
        raise OhrError(refused)
    text = "\n".join(page.text for page in read)
    return {"pages": len(read), "lost": sum(page.error is not None for page in read), "unknown": 0, "text": text}


def child(options):
    """Look at one file, and print what it gives as JSON."""
    size = int(options.gigabytes * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    try:
        found = convert(options.folder, options.format) if options.format else look_at_pdf(options.folder, options.dpi)
    except OhrError as error:
        found = {"refused": str(error).splitlines()[0]}
    print(json.dumps(found))


def look(file, options):
    """Look at one file in a process of its own; returns a row."""
    path, format = file
    limits = ["--gigabytes", str(options.gigabytes), "--dpi", str(options.dpi)]
    words_ = [sys.executable, __file__, "--child", *limits, *(["--format", format] if format else []), str(path)]
    began = perf_counter()
    try:
        done = subprocess.run(words_, capture_output=True, text=True, timeout=options.seconds, check=False)
    except subprocess.TimeoutExpired:
        return path, {"crash": f"more than {options.seconds:.0f} s"}, perf_counter() - began
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"signal {-done.returncode}"])[-1]
        return path, {"crash": last[:150]}, perf_counter() - began
    found = json.loads(done.stdout.splitlines()[-1])
    if "text" in found:
        found |= compared(found.pop("text"), reference(path, options, format))
    return path, found, perf_counter() - began


def reference(path, options, format):
    """Return the text that a file should have; None where nobody knows."""
    places = [path.with_suffix(".txt")]
    if options.reference:
        inside = path.relative_to(options.folder).with_suffix(".txt")
        places += [options.reference / inside, options.reference / inside.name]
    for place in places:
        if place.is_file():
            return place.read_text(encoding="utf-8", errors="replace")
    if format or shutil.which("pdftotext") is None:
        return None
    done = subprocess.run(
        ["pdftotext", path, "-"], capture_output=True, text=True, timeout=options.seconds, check=False
    )
    return done.stdout if done.returncode == 0 else None


def compared(text, expected):
    """Count the words of a reference that a text lacks."""
    if expected is None:
        return {"words": None, "absent": 0}
    wanted = Counter(words("\n".join(clean_layer([expected]))))
    return {"words": wanted.total(), "absent": (wanted - Counter(words(text))).total()}


def files(folder):
    """List the files to look at, each with the format of results; none for a PDF."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        format = next((part for part in reversed(path.relative_to(folder).parts[:-1]) if part in FORMATS), "")
        if path.suffix.lower() == ".pdf":
            yield path, ""
        elif format and path.suffix.lower() in (".json", ".jsonl", ".md", ".mmd", ".txt"):
            yield path, format


def printed(path, found, seconds, folder):
    """Print a row."""
    name = str(path.relative_to(folder))[-60:]
    if reason := found.get("crash") or found.get("refused"):
        print(f"{name:60}  {'CRASH' if 'crash' in found else 'refused'}: {reason.replace(str(folder), '')[:110]}")
        return
    share = f"{found['absent']:,} of {found['words']:,}" if found["words"] is not None else "-"
    print(f"{name:60} {found['pages']:6,} {found['lost']:5,} {found['unknown']:8,} {share:>18} {seconds:7.1f}")


def arguments():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--gigabytes", type=float, default=4.0)
    parser.add_argument("--dpi", type=int, default=72)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--format", default="", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = arguments()
    if options.child:
        child(options)
        return 0
    rows = []
    print(f"{'file':60} {'pages':>6} {'lost':>5} {'unknown':>8} {'words absent':>18} {'s':>7}")
    with ThreadPoolExecutor(options.workers) as pool:
        for path, found, seconds in pool.map(partial(look, options=options), files(options.folder)):
            printed(path, found, seconds, options.folder)
            rows.append(found)
    read = [row for row in rows if "pages" in row]
    crashed, refused = (sum(kind in row for row in rows) for kind in ("crash", "refused"))
    known = [row for row in read if row["words"] is not None]
    print(
        f"{len(rows):,} files: {crashed:,} crashed or ran out of time or memory, {refused:,} refused with a sentence; "
        f"{sum(row['pages'] for row in read):,} pages, {sum(row['lost'] for row in read):,} lost; "
        f"{sum(row['absent'] for row in known):,} of {sum(row['words'] for row in known):,} words of a reference absent"
    )
    return int(crashed > 0)


if __name__ == "__main__":
    sys.exit(main())
