"""Hooks of mkdocs (see mkdocs.yml): files beside docs/ and notebooks become pages, and fences of code are cleaned.

With a version (`make docs VERSION=0.1.0`), the site is one of several, each in a folder with the name of its version.
"""

import json
import os
import re
from pathlib import Path

from mkdocs.exceptions import ConfigurationError
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
BESIDE = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
"""Files beside docs/, and their names in the site."""

VERSION = os.environ.get("DOCS_VERSION", "")


def on_config(config):
    """Name the version in the header, and put its site into a folder of its own; the theme lists the other versions."""
    if VERSION:
        if not re.fullmatch(r"\w[\w.-]*", VERSION):
            raise ConfigurationError(f"VERSION={VERSION}: must be letters, digits, dots and hyphens, such as 0.1.0")
        config.site_name = f"{config.site_name} {VERSION}"
        config.site_dir = str(Path(config.site_dir) / VERSION)
        config.extra["version"] = {"provider": "mike"}  # what the theme calls a list of versions beside the site
    return config


def on_post_build(config):
    """List the versions that are there, the newest first, and lead the folder's first page to the newest."""
    if not VERSION:
        return
    sites = Path(config.site_dir).parent
    found = sorted((page.parent.name for page in sites.glob("*/index.html")), key=_parts, reverse=True)
    listed = [{"version": name, "title": name, "aliases": []} for name in found]
    (sites / "versions.json").write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    page = f'<!doctype html><meta http-equiv="refresh" content="0; url={found[0]}/index.html"><title>ohr</title>\n'
    (sites / "index.html").write_text(page, encoding="utf-8")


def _parts(version):
    """Split a version into what sorts: 0.10 comes after 0.9, and 0.10-dev before 0.10."""
    parts = [(1, int(part)) if part.isdigit() else (-1, part) for part in re.split(r"[.-]", version)]
    return [*parts, (0, "")]


def on_files(files, config):
    """Add the pages, with their links made relative to docs/."""
    for source, name in BESIDE.items():
        text = (ROOT / source).read_text(encoding="utf-8").replace("](docs/", "](")
        for other, place in BESIDE.items():
            text = text.replace(f"]({other})", f"]({place})")
        files.append(File.generated(config, name, content=text))
    for notebook in sorted((ROOT / "docs").glob("notebooks/*.ipynb")):
        files.append(File.generated(config, f"notebooks/{notebook.stem}.md", content=page_of(notebook)))
    return files


def page_of(notebook):
    """Write a notebook as Markdown: its text, its code, and what the code gave."""
    found = []
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        found.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for data in (output["data"] for output in cell.get("outputs", ()) if "data" in output):
            if "image/png" in data:
                drawn = source.splitlines()[0].replace('"', "'")
                found.append(f"![What {drawn} draws](data:image/png;base64,{data['image/png'].strip()})")
            else:
                found.append(f"```text\n{''.join(data['text/plain'])}\n```")
    return "\n\n".join(found) + f"\n\n[The notebook]({notebook.name}) itself, to download.\n"


def on_page_markdown(markdown, **_):
    """Take words for the tests (`yaml fragment`) off the fences, and lead links to notebooks to their pages."""
    markdown = re.sub(r"(\]\(\S*notebooks/[\w-]+)\.ipynb\)", r"\1.md)", markdown)
    return re.sub(r"^( *```[a-z]+) (?:fragment|prompt)\b", r"\1", markdown, flags=re.MULTILINE)
