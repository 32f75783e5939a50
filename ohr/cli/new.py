"""`ohr new`: write a plugin of your own, ready to be changed."""

import keyword
import re
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from ohr.cli.display.console import say
from ohr.cli.plugins import family_of
from ohr.errors import PluginError

_SPEC = """\
# ohr run {name}.yaml --trust-plugins
name: {name}
replicates: 1
limit: 4
plugins: [./{name}.py]
benchmark: {benchmark}
knowledge_bases:
  - name: ground_truth
{bases}chunker: {chunker}
retrievers:
  - {retriever}
generators:
  - {generator}
{agents}{systems}{metrics}evaluate: [retrieval, overall]
"""
_BLANK = {
    "benchmark": "{kind: mini, languages: [en], max_pages: 1}",
    "bases": "",
    "chunker": "{kind: tokens, size: 256}",
    "retriever": "{kind: bm25, top_k: 2}",
    "generator": "{kind: extractive}",
    "agents": "",
    "systems": "",
    "metrics": "",
}
_FORMATTING = "  - {{name: formatting, treatments: [{{kind: formatting, rate: [0.3, 0.6]}}]}}\n"
_READ = "  - {{name: {name}, treatments: [{{kind: {name}}}]}}\n"
_IMAGE = "  - {{name: {name}, treatments: [{{kind: {name}, severity: [0.3, 0.9]}}, {{kind: tesseract}}]}}\n"
_TEXT = "  - {{name: {name}, treatments: [{{kind: {name}, rate: [0.1, 0.3, 0.6]}}]}}\n"
_REPAIR = (
    "  - {{name: noisy, treatments: [{{kind: formatting, rate: 0.6}}]}}\n"
    "  - {{name: repaired, treatments: [{{kind: formatting, rate: 0.6}}, {{kind: {name}}}]}}\n"
)
_BASES: dict[object, str] = {
    ("noise", "image"): _IMAGE,
    ("noise", "text"): _TEXT,
    ("reading", "image"): _READ,
    ("repair", None): _REPAIR,
    "ocr_format": "  - {{name: {name}, ocr: {{kind: precomputed, root: {name}_results}}}}  # files show their format\n",
}
"""Entries of `knowledge_bases`, by what a treatment is for and what it takes, or by the family."""
_DOCUMENTS = (
    "academic/slope_walking_kneecap_trial",
    "administration/ashquill_budget_guide",
    "finance/bond_fund_fact_sheet",
    "law/reservoir_judgment",
)
_RESULT = """\
{"lines": [
  {"page": 1, "text": "A title", "title": true},
  {"page": 1, "text": "What your system read on the page."}
]}
"""
"""The documents of the spec, and what the example of `ocr_format` reads of each."""


def new(
    family: Annotated[str, typer.Argument(help="Such as retriever.", show_default=False)],
    name: Annotated[str, typer.Argument(help="Of the plugin, as in YAML.", show_default=False)],
    folder: Annotated[Path, typer.Option("--in", metavar="DIR", help="Where the files are written.")] = Path(),
) -> None:
    """Write a plugin of your own, ready to be changed.

    One working file, its test, and a spec that uses it.
    """
    from ohr.contracts import FAMILIES
    from ohr.results.folder.whole_files import replaced

    kind, plugin = name.replace("-", "_").lower(), family_of(family)
    written = files_of(plugin, kind)
    taken = [file for file in written if (folder / file).exists()]
    if taken:
        raise PluginError(f"{folder / taken[0]} exists: choose another name, or another folder with --in")
    for file, text in written.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        with replaced(folder / file) as new_file:
            new_file.write_text(text, encoding="utf-8")
        say(f"wrote {folder / file}")
    here = "" if folder == Path() else f"cd {folder}; "
    say(f"\ntest it:  {here}python -m pytest test_{kind}.py")
    say(f"run it:   {here}ohr run {kind}.yaml --trust-plugins")
    say(f'ship it:  in the pyproject.toml of a package of yours\n\n[project.entry-points."{FAMILIES[plugin][1]}"]')
    say(f'{kind} = "your_package.{kind}:{_class(kind)}"')


def files_of(family: str, kind: str) -> dict[str, str]:
    """Return the text of each file of a new plugin.

    Raises:
        PluginError: `kind` cannot be a name, or is one already.
    """
    from ohr.registry import Registry

    if not re.fullmatch(r"[a-z][a-z0-9_]*", kind) or keyword.iskeyword(kind):
        raise PluginError(f"{kind!r} cannot be a plugin's name: it takes lowercase letters, digits and _")
    if kind in Registry().names(family):
        raise PluginError(f"there is a {family} {kind!r} already: `ohr plugins show {family} {kind}`")
    source = files("ohr.examples").joinpath(f"{family}.py").read_text(encoding="utf-8")
    own = source.replace("Example", _class(kind)).replace('"example"', f'"{kind}"')
    given, uses, results = f"{_class(kind)}()", "", dict[str, str]()
    if family == "ocr_format":
        given, uses = f'{given}, Path(__file__).with_name("{kind}_results")', "from pathlib import Path\n\n"
        results = {f"{kind}_results/{document}_lines.json": _RESULT for document in _DOCUMENTS}
    test = (
        f'"""Does it keep the contract? Run with `python -m pytest`."""\n\n{uses}from {kind} import {_class(kind)}\n\n'
        f"from ohr.testing import check_{family}\n\n\n"
        f"def test_{kind}_keeps_the_contract():\n    check_{family}({given})\n"
    )
    return {f"{kind}.py": own, f"test_{kind}.py": test, f"{kind}.yaml": _spec(family, kind), **results}


def _spec(family: str, kind: str) -> str:
    lists = {"agent": "agents", "system": "systems", "metric": "metrics"}  # which other families need not have
    named = {key: (slot, f"{slot}:\n  - {{kind: {kind}}}\n") for key, slot in lists.items()}
    slot, text = named.get(family, (family, f"{{kind: {kind}}}"))
    from ohr.contracts import FAMILIES, Treatment

    contract, _ = FAMILIES[family]
    use = (contract.purpose, contract.takes) if issubclass(contract, Treatment) else family
    bases = _BASES.get(use, _FORMATTING).format(name=kind)
    return _SPEC.format(**{**_BLANK, slot: text, "bases": bases, "name": kind})


def _class(kind: str) -> str:
    return "".join(part.capitalize() for part in kind.split("_"))
