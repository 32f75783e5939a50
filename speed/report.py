"""Times the report of made-up runs, its size, and how long headless Chromium takes to open it; browses a large run.

Without playwright and chromium it prints times and sizes only. `python -m speed.report`
"""

import resource
import shutil
import sys
import tempfile
import threading
from pathlib import Path
from time import perf_counter
from urllib.request import urlopen

from ohr.report.html.report_file import write_report
from ohr.report.html.site import Site, make_server
from ohr.results.run import Run
from speed.made_up_run import large

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def opened(address: str) -> str:
    """Return how long a browser takes to show a page with its list of questions, and to open a question."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return "no playwright here"
    chromium = shutil.which("chromium")
    if chromium is None:
        return "no chromium here"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page()
        began = perf_counter()
        page.goto(address)
        page.wait_for_selector(".open")
        ready = perf_counter() - began
        page.locator(".open").first.click()
        page.wait_for_selector("dialog[open] h2")
        asked = perf_counter() - began - ready
        browser.close()
    return f"opens in {ready:.2f} s, a question in {asked:.2f} s"


def cpu() -> tuple[float, float]:
    """Return the processor time of this process, and of those that it has ended."""
    mine, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return mine.ru_utime + mine.ru_stime, others.ru_utime + others.ru_stime


def report(folder: Path, limit: str, workers: int = 2) -> None:
    """Write the report of a run and print its cost."""
    began, before = perf_counter(), cpu()
    made = write_report([Run(folder)], folder.parent / "report.html", workers=workers)
    seconds, here, there = perf_counter() - began, *(after - first for after, first in zip(cpu(), before, strict=True))
    files = [file for path in made for file in ([path] if path.is_file() else path.iterdir())]
    page, beside = files[0].stat().st_size / 1e6, sum(file.stat().st_size for file in files[1:]) / 1e6
    print(f"  written in {seconds:.1f} s ({here:.1f} s CPU here, {there:.1f} s in {workers} processes; {limit})")
    print(f"  page {page:.1f} MB, beside it {beside:.1f} MB")
    print(f"  {opened(files[0].as_uri())} (limit 3 s)", flush=True)


def browse(runs: Path, folder: Path) -> None:
    """Print how long `ohr view` takes for a page of the list, sorted and searched, and for a question."""
    server = make_server(Site(runs, lambda _: []), 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/run/{folder.parent.name}/{folder.name}"
    cell = "pipeline=0&condition=1"
    for what, path in (
        ("the page", "/"),
        ("its choices", "/0/about"),
        ("the list", f"/0/questions?{cell}"),
        ("page 3,000 of the list, by text", f"/0/questions?{cell}&order=text&page=3000"),
        ("a search", f"/0/questions?{cell}&search=document%2017"),
        ("a question", "/0/question?place=77777"),
        ("another question", "/0/question?place=12345"),
    ):
        began = perf_counter()
        with urlopen(address + path) as answer:
            size = len(answer.read())
        print(f"  {what}: {perf_counter() - began:.2f} s, {size / 1e3:,.0f} kB", flush=True)
    print(f"  {opened(address + '/')}")
    server.shutdown()


def main(sizes: list[str]) -> None:
    """Measure the sizes that are named, or all."""
    with tempfile.TemporaryDirectory() as home:
        runs = Path(home)
        if not sizes or "240" in sizes:
            print("240 questions, 8 knowledge bases, 2 retrievers, 2 generators:")
            report(large(240).write(runs), "limits 10 s, 5 MB")
        if not sizes or "20000" in sizes:
            print("20,000 questions, 4 knowledge bases, 2 retrievers, 1 generator:")
            report(large(20_000, levels=3, generators=1).write(runs), "limit 60 s")
        if "20000x8" in sizes:
            print("20,000 questions, 8 knowledge bases, 2 retrievers, 2 generators:")
            report(large(20_000).write(runs), "limit 60 s")
        if not sizes or "100000" in sizes:
            print("ohr view, 100,000 questions, 3 knowledge bases, 1 retriever, 1 generator:")
            folder = large(100_000, levels=2, words=150, retrievers=1, generators=1).write(runs)
            browse(runs, folder)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
