"""The documentation's site: every page has a place in it, and it builds without a warning."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MADE = {"changelog.md", "contributing.md", *(f"notebooks/{found.stem}.md" for found in DOCS.glob("notebooks/*.ipynb"))}
"""Pages that docs/site/hooks.py makes of files beside docs/, and of notebooks."""
BUILDS = pytest.mark.acceptance  # mkdocs takes 20 seconds; tests/test_docs.py checks the links of the pages themselves


def pages_of(nav: Any) -> Iterator[str]:
    """Yield the pages of a navigation, however deep."""
    for entry in nav if isinstance(nav, list) else [nav]:
        if isinstance(entry, dict):
            for below in entry.values():
                yield from pages_of(below)
        else:
            yield str(entry)


def test_the_navigation_names_every_page_once_and_no_other():
    settings = YAML().load(ROOT / "mkdocs.yml")  # round trip: it keeps tags for other libraries as they are
    named = list(pages_of(settings["nav"]))
    assert sorted(named) == sorted({*(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")), *MADE})


def test_sites_of_versions_are_beside_each_other_and_the_newest_comes_first(tmp_path, monkeypatch):
    pytest.importorskip("mkdocs", reason="not installed: mkdocs (the extra docs)")
    for version in ("0.9.0", "0.10.0", "0.10.0-dev"):
        monkeypatch.setenv("DOCS_VERSION", version)
        hooks = run_path(str(DOCS / "site" / "hooks.py"))
        config = hooks["on_config"](SimpleNamespace(site_name="ohr", site_dir=str(tmp_path), extra={}))
        assert (config.site_name, config.site_dir) == (f"ohr {version}", str(tmp_path / version))
        (tmp_path / version).mkdir()
        (tmp_path / version / "index.html").touch()
        hooks["on_post_build"](config)
    listed = [item["version"] for item in json.loads((tmp_path / "versions.json").read_text())]
    assert listed == ["0.10.0", "0.10.0-dev", "0.9.0"]
    assert "url=0.10.0/index.html" in (tmp_path / "index.html").read_text()


def test_a_version_that_is_no_name_of_a_folder_is_refused(tmp_path, monkeypatch):
    exceptions = pytest.importorskip("mkdocs.exceptions", reason="not installed: mkdocs (the extra docs)")
    monkeypatch.setenv("DOCS_VERSION", "../0.1.0")
    hooks = run_path(str(DOCS / "site" / "hooks.py"))
    with pytest.raises(exceptions.ConfigurationError, match="must be letters, digits, dots and hyphens"):
        hooks["on_config"](SimpleNamespace(site_name="ohr", site_dir=str(tmp_path), extra={}))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    missing = [name for name in ("mkdocs", "material", "mkdocstrings") if not find_spec(name)]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (the extra docs)")
    place = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", place],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    return place


@BUILDS
def test_the_site_loads_nothing_from_the_network(site: Path):
    loads = r'<(?:script|img|iframe|source)\b[^>]*\bsrc="(?:https?:)?//[^"]*"|<link\b[^>]*\bhref="(?:https?:)?//[^"]*"'
    styles = r"(?:@import|url\()\s*[\"']?(?:https?:)?//[^)\"']*"
    found = [
        (str(file.relative_to(site)), one)
        for pattern, ending in ((loads, "*.html"), (styles, "*.css"))
        for file in site.rglob(ending)
        for one in re.findall(pattern, file.read_text(encoding="utf-8"))
        if "canonical" not in one
    ]
    assert found == []


@BUILDS
def test_the_search_works_without_a_server_and_finds_every_page(site: Path):
    script = (site / "search" / "search_index.js").read_text(encoding="utf-8")  # a page on the disk may load it
    index = json.loads(script.removeprefix("var __index = "))
    indexed = {entry["location"].partition("#")[0] for entry in index["docs"]}
    assert {str(page.relative_to(DOCS).with_suffix(".html")) for page in DOCS.rglob("*.md")} <= indexed


@BUILDS
def test_every_fence_is_a_block_of_code(site: Path):
    broken = r"<code>(?:sh|yaml|python|text|csv|json|toml)(?: \w+)?\n|```"
    pages = [page for page in site.rglob("*.html") if re.search(broken, page.read_text(encoding="utf-8"))]
    assert [str(page.relative_to(site)) for page in pages] == []


@BUILDS
def test_the_reference_has_the_public_functions(site: Path):
    page = (site / "api" / "index.html").read_text(encoding="utf-8")
    assert [name for name in ("read_spec", "plan", "run", "load_run") if f">{name}<" not in page] == []


@BUILDS
def test_the_site_works_in_a_browser_from_the_disk(site: Path):
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium")
    if not chromium:
        pytest.skip("Debian's package chromium is not installed")
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--headless", "--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
        faults: list[str] = []
        page.on("request", lambda asked: asked.url.startswith(("http", "ws")) and faults.append(asked.url))
        page.on("requestfailed", lambda asked: faults.append(asked.url))
        page.on("pageerror", lambda error: faults.append(str(error)))
        for name in (
            "index",
            "gallery",
            "results",
            "noise/channel",
            "api/contracts",
            "reference/plugins",
            "reference/tables",
            "ten-things",
            "notebooks/look-at-a-run",
        ):  # images, and the widest tables
            page.goto((site / f"{name}.html").as_uri())
            if page.evaluate("document.documentElement.scrollWidth") > 390:
                faults.append(f"{name} is wider than the screen")
            if page.locator("img:not([alt]), img[alt='']").count():
                faults.append(f"{name} has an image without a text")
        assert page.evaluate("document.body.dataset.mdColorScheme") == "slate"
        page.set_viewport_size({"width": 1280, "height": 900})
        page.locator("input.md-search__input").click()
        page.keyboard.type("evidence_loss")
        page.locator(".md-search-result__item").first.wait_for()
        browser.close()
    assert faults == []
