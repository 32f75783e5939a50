"""The path of somebody with own PDFs: six of them and a CSV of twelve questions, to an opened report in three commands.

    python speed/own_pdfs.py [FOLDER]

It writes the documents (invented; one of them is a scan), runs `ohr init`, `ohr run` and a headless Chromium on the
report, and prints what each took and what the report says first.
"""

import csv
import os
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp
from time import perf_counter

import numpy as np

from ohr.files import pdf

OHR = Path(sys.executable).with_name("ohr")
PORTS = ("Varnholt", "Corrie Head", "Marren", "Dovrill", "Pellstow", "Quenby")
FACTS = (
    (
        "When was the harbour of {port} built?",
        "{year}",
        "The harbour of {port} was built in {year} by the Lisk Company.",
    ),
    (
        "What does a berth cost in {port}?",
        "{fee} crowns",
        "A berth for one night costs {fee} crowns, paid at the office.",
    ),
)
FILLER = (
    "The quay is swept on Mondays, and the office keeps a register of all vessels that lie overnight in the basin. "
    "Masters report their draught before they enter, since the sill dries at low water of ordinary spring tides. "
)


def source(port, number):
    """Write three pages about a port as typst markup."""
    year, fee = 1850 + 7 * number, 20 + 3 * number
    facts = [text.format(port=port, year=year, fee=fee) for _, _, text in FACTS]
    pages = [
        f"= {port}\n\n{facts[0]} {FILLER * 3}",
        f"== Charges\n\n{facts[1]} {FILLER * 4}",
        f"== Notices\n\n{FILLER * 6}",
    ]
    return "#set page(width: 150mm, height: 200mm)\n#set text(size: 10pt)\n" + "\n#pagebreak()\n".join(pages)


def documents(folder):
    """Write six PDFs; the last one is a scan of a printed one."""
    import typst

    folder.mkdir(parents=True)
    for number, port in enumerate(PORTS):
        path = folder / f"{port.lower().replace(' ', '-')}.pdf"
        path.write_bytes(typst.compile(source(port, number).encode()))
        if number == len(PORTS) - 1:
            pages = [np.ascontiguousarray(pdf.render(path, index, 150)) for index in range(pdf.page_count(path))]
            scan(path, pages)


def scan(path, pages):
    """Write page images as a PDF without a text layer."""
    from PIL import Image

    first, *others = (Image.fromarray(page) for page in pages)
    first.save(path, "PDF", save_all=True, append_images=others, resolution=150)


def questions(path):
    """Write two questions about each document; without evidence, as people do."""
    with path.open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(("question", "answers", "document", "page"))
        for number, port in enumerate(PORTS):
            year, fee = 1850 + 7 * number, 20 + 3 * number
            for page, (question, answer, _) in enumerate(FACTS, 1):
                shown = (text.format(port=port, year=year, fee=fee) for text in (question, answer))
                writer.writerow((*shown, port.lower().replace(" ", "-"), page))


def timed(name, words, home):
    """Run a command and print it with what it took."""
    began = perf_counter()
    done = subprocess.run(words, cwd=home, capture_output=True, text=True, check=False)
    print(f"$ {name}\n{done.stdout.rstrip()}")
    if done.returncode:
        print(done.stderr[-2000:])
    print(f"  {perf_counter() - began:.1f} s, status {done.returncode}\n", flush=True)
    return done


def main():
    home = Path(sys.argv[1] if sys.argv[1:] else mkdtemp(prefix="own-pdfs-"))
    documents(home / "docs")
    questions(home / "questions.csv")
    began = perf_counter()
    timed("ohr init docs", [OHR, "init", "docs"], home)
    ran = timed("ohr run study.yaml", [OHR, "run", "study.yaml"], home)
    page = home / ran.stdout.split("report:  ")[1].strip()
    chromium = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,1600"]
    timed("chromium report.html", [*chromium, f"--screenshot={home / 'report.png'}", f"file://{page}"], home)
    print(
        f"three commands: {perf_counter() - began:.1f} s on {os.cpu_count()} cores; {page.stat().st_size / 1e6:.1f} MB"
    )
    shown = subprocess.run([OHR, "show", "study", "--analysis", "confusions"], cwd=home, capture_output=True, text=True)
    print("\n".join(shown.stdout.splitlines()[:8]))


if __name__ == "__main__":
    main()
