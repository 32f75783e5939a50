"""Hands a study's documents and questions over to a system that answers offline."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from ohr.contracts import Image, Page, PageId, System
from ohr.dataset.inputs import limited, read_inputs
from ohr.engine.session import Session
from ohr.errors import DataError, SpecError
from ohr.files.handed_over import DIGEST, QUESTIONS, digest, plain
from ohr.graph.cache_keys import Keys
from ohr.graph.compile import compile_graph
from ohr.graph.graph import BasePart
from ohr.results.folder.replace import filled
from ohr.runner.calibration.calibrate import calibrate
from ohr.runner.preflight import check_stages
from ohr.runner.run_options import RunOptions
from ohr.spec.model import Spec
from ohr.steps.documents.make_document import read_pages
from ohr.steps.systems.given_documents import condition_name, hand_over

_README = """# {name}

`documents/` has the documents of one condition of the study {study}, and `questions.jsonl` the questions: `id` and
`question`. Let your system read these documents and nothing else, ask it every question, and write a file beside this
one, `answers.jsonl` (an object in each line) or `answers.csv`:

| field | meaning |
|---|---|
| `question_id` | the `id` of the question; or `question`, its text |
| `answer` | what the system said |
| `contexts` | optional: the passages that it read, best first: a list of texts, or of objects as below |
| `tokens_in`, `tokens_out`, `seconds`, `seconds_retrieval`, `seconds_generation`, `version` | optional |

A passage may be an object with `text`, `document` (name of the file), `page` (its first page is {first}) and `score`.

Files of RAGAS (`user_input`, `response`, `retrieved_contexts`), of DeepEval (`input`, `actual_output`,
`retrieval_context`) and promptfoo's JSON are taken as they are. A question without an answer fails. Leave
`{digest}` as it is: `ohr run` compares it with the documents of the study.
"""


def hand_over_study(spec: Spec, out: Path, options: RunOptions, *, force: bool) -> list[Path]:
    """Write a folder for each condition: documents, questions, and what to return; returns the folders.

    Args:
        out: the `folder` of a system `files` of the spec.
        force: keep what is there as `<name>.bak-<time>`.

    Raises: as `ohr.runner.run.run`; SpecError: the spec has no such system; DataError: a folder has files.
    """
    stages = [each.stage for each in spec.systems if each.stage.kind == "files"]
    system = next((stage for stage in stages if getattr(stage, "folder", out).resolve() == out.resolve()), None)
    if system is None:
        raise SpecError(f"systems: none is of the kind files with this folder: add {{kind: files, folder: {out}}}")
    check_stages(spec, asks=False)
    spec = limited(spec, options.limit)
    session = options.session(spec, read_inputs(spec))
    with session.started(spec):
        keys = Keys(spec := calibrate(spec, session), session.inputs)
        graph = compile_graph(keys)
        parts = [part for part in graph.parts if isinstance(part, BasePart)]
        if system.documents == "text":
            documents = [name for part in parts for name in part.documents]
            scheduler = session.scheduler(spec)
            scheduler.add(graph, documents)
            scheduler.settle(documents)
    return [_condition(part, keys, system, session, out, force=force) for part in parts]


def _condition(part: BasePart, keys: Keys, system: System, session: Session, out: Path, *, force: bool) -> Path:
    """Write the folder of one condition."""
    inputs, name = session.inputs, condition_name(part.base.name)
    recipe = None if system.documents == "text" else keys.images(part.base)
    texts: Mapping[str, Sequence[Page] | None] = {}
    if recipe is None:
        names = (document.name for document in inputs.documents)
        texts = {each: read_pages(session.store, key) for each, key in zip(names, part.documents, strict=True)}
        if lost := [each for each, pages in texts.items() if pages is None]:
            raise DataError(f"{name}: {len(lost)} documents have no text, such as {lost[0]}: `ohr run` says why")

    def image(page: PageId) -> Image:
        document = inputs.by_name[page[0]]
        assert recipe is not None  # where text is handed over, nobody asks for images
        return recipe.page(document, page[1], inputs.leaf(document, images=True)).make()

    home = out / name
    with filled(home, "OUT", {"command": "hand-over", "spec": keys.spec.name}, force=force):
        folder = home / "documents"
        folder.mkdir(parents=True, exist_ok=True)
        dpi = getattr(inputs.benchmark, "dpi", None)
        hand_over(folder, system, inputs.documents, texts, image, recipe, *([dpi] if dpi else []))
        (home / DIGEST).write_text(digest(folder) + "\n", encoding="utf-8")
        asked = {plain(question.text): question for question in reversed([inputs.questions[at] for at in inputs.asked])}
        lines = [json.dumps({"id": q.id, "question": q.text}, ensure_ascii=False) for q in reversed(asked.values())]
        (home / QUESTIONS).write_text("\n".join(lines) + "\n", encoding="utf-8")
        readme = _README.format(name=name, study=keys.spec.name, first=system.first_page, digest=DIGEST)
        (home / "README.md").write_text(readme, encoding="utf-8")
    return home
