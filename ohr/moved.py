"""Modules of the surface that have moved: a plugin that imports one by its old name finds what it held."""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "contracts.chunking": "contracts.retrieval",
    "contracts.conversation": "contracts.generation",
    "contracts.noise": "contracts.treatment",
    "contracts.ocr": "contracts.treatment",
    "files.answers": "files.foreign_answers.answer_rows",
    "files.field_lines": "files.trec",
    "files.foreign_answers.deepeval": "files.foreign_answers.inspect_ai files.foreign_answers.answer_rows",
    "files.foreign_answers.ragas": "files.foreign_answers.inspect_ai",
    "files.foreign_answers.rows": "files.foreign_answers.answer_rows",
    "files.grids": "files.grid_files",
    "files.parquet": "files.grid_files files.documents",
    "files.pdf_filters": "files.pdf",
    "files.pdf_visible": "files.pdf_text",
    "files.question_tables": "files.tables",
    "files.record_files": "files.grid_files",
    "generators.gguf": "generators.local_model",
    "generators.replies": "generators.local_model",
    "generators.transformers_vision": "generators.transformers",
    "markup.content": "markup.tables markup.html",
    "models.batch.batches": "models.batches",
    "models.batch.lines": "models.batch_server",
    "models.batch.notes": "models.batches",
    "models.batch.server": "models.batch_server",
    "models.batch.settings": "models.batches",
    "models.batch.state": "models.batches",
    "models.check": "models.model_files",
    "models.completions": "models.tries models.chat_client",
    "models.locate": "models.model_files",
    "models.memory": "models.resident models.chat_server",
    "models.meter": "models.allowance",
    "models.rate_headers": "models.tries",
    "models.request_size": "models.allowance",
    "noise.channel.align": "noise.channel.fit",
    "noise.channel.transplant": "noise.channel.donors",
    "noise.formatting.cells": "noise.formatting.units",
    "noise.formatting.comments": "noise.formatting.prose",
    "noise.formatting.symbols": "noise.formatting.formulas",
    "noise.image.background": "noise.image.textures",
    "noise.image.binarization": "noise.image.copier",
    "noise.image.capture.cluttered_background": "noise.image.capture.surroundings",
    "noise.image.capture.cropped": "noise.image.capture.viewpoint",
    "noise.image.capture.defocus": "noise.image.capture.exposure",
    "noise.image.capture.multi_doc": "noise.image.capture.surroundings",
    "noise.image.capture.off_axis": "noise.image.capture.viewpoint",
    "noise.image.capture.small_roi": "noise.image.capture.viewpoint",
    "noise.image.capture.specular": "noise.image.capture.exposure",
    "noise.image.capture.uneven_illumination": "noise.image.capture.exposure",
    "noise.image.rollers": "noise.image.copier",
    "noise.image.rotation": "noise.image.warping",
    "noise.image.salt_and_pepper": "noise.image.copier",
    "noise.image.shadows": "noise.image.light",
    "ocr.architectures.catalog": "ocr.document_models",
    "ocr.architectures.presets": "ocr.document_models",
    "ocr.formats.document_files": "ocr.formats.result_folder ocr.formats.markdown",
    "ocr.formats.folder": "ocr.formats.result_folder",
    "ocr.formats.html": "ocr.formats.marker",
    "ocr.formats.known": "ocr.formats.find",
    "ocr.formats.labels": "ocr.formats.values",
    "ocr.formats.written": "ocr.formats.result_folder",
    "ocr.leptonica": "ocr.tesseract",
    "ocr.servers.replies": "ocr.servers.preset",
    "retrievers.engines.lance_rows": "retrievers.engines.lance_table",
    "retrievers.engines.lance_settings": "retrievers.engines.lance_table",
    "retrievers.lexical.bm25_okapi": "retrievers.lexical.bm25",
    "retrievers.lexical.bm25_reference": "retrievers.lexical.bm25",
    "retrievers.lexical.postings": "retrievers.lexical.bm25",
    "retrievers.models": "retrievers.embedders",
    "retrievers.mteb_models": "retrievers.mteb",
    "retrievers.mteb_registry": "retrievers.mteb",
    "retrievers.nested": "retrievers.hybrid",
    "retrievers.ranking": "retrievers.scores",
    "retrievers.spill": "retrievers.scores",
    "retrievers.vector.embedding": "retrievers.vector.vectors",
    "retrievers.vector.mteb": "retrievers.mteb",
    "retrievers.vector.qdrant_requests": "retrievers.vector.qdrant_engine",
    "retrievers.vector.token_vectors": "retrievers.vector.maxsim",
    "retrievers.vision.colpali": "retrievers.vision.late_interaction",
    "retrievers.vision.colqwen": "retrievers.vision.late_interaction",
    "retrievers.vision.mteb_images": "retrievers.mteb",
    "retrievers.windows": "retrievers.embedders",
    "systems.documents": "systems.ingesting",
    "systems.event_loop": "systems.python",
    "systems.preset_fields": "systems.request_templates",
    "systems.replies": "systems.given_replies",
    "systems.streams": "systems.http_reply",
    "systems.templates": "systems.request_templates",
    "testing.replies": "testing.agents",
    "testing.trajectories": "testing.agents",
    "text.readable": "text.layer",
}
"""Old names below `ohr`, and the modules that have what each held."""


class _Moved(MetaPathFinder, Loader):
    """Makes a module of an old name, with the names of those that have taken its place."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:  # noqa: ARG002
        """Return how a moved module, or the package that it was in, is made; None for any other."""
        old = name.removeprefix("ohr.")
        is_package = any(moved.startswith(f"{old}.") for moved in MOVED)
        known = name.startswith("ohr.") and (old in MOVED or is_package)
        return ModuleSpec(name, self, is_package=is_package) if known else None

    def exec_module(self, module: ModuleType) -> None:
        """Fill a module."""
        for name in MOVED.get(module.__name__.removeprefix("ohr."), "").split():
            place = vars(import_module(f"ohr.{name}"))
            vars(module).update({key: value for key, value in place.items() if not key.startswith("_")})


def install() -> None:
    """Let old names be found, after all modules that are there."""
    if not any(isinstance(finder, _Moved) for finder in sys.meta_path):
        sys.meta_path.append(_Moved())
