"""Hooks of mkdocs (see mkdocs.yml): files beside docs/ and notebooks become pages, and fences of code are cleaned."""

import json
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
