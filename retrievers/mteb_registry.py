"""Models and tasks in mteb's registry (Muennighoff et al., EACL 2023)."""

import inspect
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal

from ohr import extras
from ohr.errors import PluginError

Modality = Literal["text", "image"]
_IMAGE_TASK = "VidoreDocVQARetrieval"
"""A task of mteb that searches pages of documents, as this retriever does: by default its prompt is used."""


@cache
def model_meta(kind: str, name: str, modality: Modality, *, trusted: bool) -> Any:
    """Look a model up in mteb's registry.

    Raises:
        PluginError: mteb does not know it, or does not embed such items with it on this machine.
    """
    registry = extras.load("mteb.models.model_implementations", "mteb").MODEL_REGISTRY
    renamed = extras.load("mteb.models.get_model_meta", "mteb")._MODEL_RENAMES
    meta = registry.get(renamed.get(name, name))
    if meta is None:
        raise PluginError(f"retriever {kind}: mteb has no model {name!r}. {_nearest(name, list(registry))}")
    if fault := next(_faults(meta, modality, trusted=trusted), ""):
        raise PluginError(f"retriever {kind}: {name} {fault}")
    return meta


def _nearest(name: str, known: list[str]) -> str:
    """Name those that are like one, without regard to case and owner, if there are any."""
    from difflib import get_close_matches

    short = {each.lower().rpartition("/")[2]: each for each in known}
    similar = [short[each] for each in get_close_matches(name.lower().rpartition("/")[2], list(short), n=5, cutoff=0.5)]
    return f"Did you mean {' or '.join(similar)}?" if similar else f"None of its {len(known):,} names is like it."


def _faults(meta: Any, modality: Modality, *, trusted: bool) -> Iterator[str]:
    """Yield why a model cannot be used."""
    if "API" in meta.framework:
        yield "runs on its maker's servers; this retriever runs models on this machine alone"
    if meta.loader is None:
        yield "is in mteb's registry by name only: mteb has no code that runs it"
    if not {"dense", "late-interaction"} & set(meta.model_type):
        yield f"is a model of the type {', '.join(meta.model_type)}; this retriever runs those that embed"
    if missing := sorted({"text", modality} - set(meta.modalities)):
        yield f"embeds {' and '.join(meta.modalities)}, and not {' and '.join(missing)}"
    if not trusted and _runs_code(meta):
        yield (
            "comes with Python code of its own, which mteb runs: read it, then set `trust_remote_code: true` and run "
            "with --trust-plugins"
        )


def _runs_code(meta: Any) -> bool:
    """Report whether mteb lets a model run code from the hub: its loader's arguments, or its source, say so."""
    loader = getattr(meta.loader, "func", meta.loader)
    sources = inspect.getmro(loader) if inspect.isclass(loader) else [loader]
    return bool(meta.loader_kwargs.get("trust_remote_code")) or any(
        "trust_remote_code=True" in inspect.getsource(source)
        for source in sources
        if source.__module__.startswith("mteb.")
    )


@cache
def task_of(kind: str, task: str | None, instruction: str | None, modality: Modality) -> Any:
    """Return mteb's description of a task: the named one, or retrieval by texts or by page images."""
    name = task or (_IMAGE_TASK if modality == "image" else None)
    if name:
        tasks = extras.load("mteb.get_tasks", "mteb")._TASKS_REGISTRY
        if name not in tasks:
            raise PluginError(f"retriever {kind}: mteb has no task {name!r}. {_nearest(name, list(tasks))}")
        described = tasks[name].metadata
    else:
        described = retrieval_task()
    return described.model_copy(update={"prompt": {"query": instruction}}) if instruction else described


def retrieval_task() -> Any:
    """Describe a retrieval for which no model has prompts of its own."""
    default = extras.load("mteb.abstasks.retrieval", "mteb").AbsTaskRetrieval.abstask_prompt
    return extras.load("mteb.abstasks.task_metadata", "mteb").TaskMetadata(
        name="ohr",
        description="Retrieval of passages.",
        dataset={"path": "none", "revision": "none"},
        type="Retrieval",
        category="t2t",
        eval_langs=["eng-Latn"],
        main_score="ndcg_at_10",
        prompt={"query": default},
    )
