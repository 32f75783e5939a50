"""Hooks of mkdocs (see mkdocs.yml): they add the pages that are files beside docs/, and clean the fences of code."""

import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
BESIDE = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
"""Files beside docs/, and their names in the site."""


def on_files(files, config):
    """Add the pages, with their links made relative to docs/."""
    for source, name in BESIDE.items():
        text = (ROOT / source).read_text(encoding="utf-8").replace("](docs/", "](")
        for other, place in BESIDE.items():
            text = text.replace(f"]({other})", f"]({place})")
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown, **_):
    """Take words for the tests (`yaml fragment`) off the fences, which mkdocs reads as a language only."""
    return re.sub(r"^( *```[a-z]+) (?:fragment|prompt)$", r"\1", markdown, flags=re.MULTILINE)
