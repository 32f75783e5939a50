"""inspect_ai: an evaluation's log, `.json` or `.eval`, one epoch of it.

Its layout: `inspect_ai.log.EvalLog` and `EvalSample`. An `.eval` is a ZIP archive with `header.json` and a file for
each sample, compressed by Deflate or, in new versions, by Zstandard. It has no place of its own for contexts: they are
in a sample's metadata.
"""

import json
import struct
from collections import defaultdict
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo
from zlib import error as zlib_error

from ohr.errors import DataError
from ohr.files.foreign_answers.answer_rows import CONTEXTS, AnswerFile, AnswerRow, answer_file, extra, mapping
from ohr.files.foreign_answers.promptfoo import picked
from ohr.files.json_input import parse_json
from ohr.messages.wording import counted, keys_of, quoted, shortened

_ZSTANDARD = 93
"""Method of compression in a ZIP archive that Python reads from 3.14 on."""
_ATTACHMENT = "attachment://"


def read(path: Path, found: Any, pick: str | None = None, *, whole: bool = True) -> AnswerFile:
    """Read the answers of one epoch.

    Args:
        path: for messages.
        found: the log.
        pick: the epoch, where there are several.
        whole: refuse the log of an evaluation that did not end well and lacks samples.

    Raises:
        DataError: it is no log, has several epochs of which none is picked, or is not whole.
    """
    samples = found.get("samples") if isinstance(found, Mapping) else None
    status = found.get("status") if isinstance(found, Mapping) else None
    if not isinstance(found, Mapping) or status is None:
        keys = f" (it has {keys_of(found)})" if isinstance(found, Mapping) else ""
        raise DataError(f"{path}: is no log of inspect_ai: it has no `status`{keys}")
    if not isinstance(samples, list) or not samples:
        raise DataError(f"{path}: the log has no samples (its status is {status})")
    notes = []
    if status != "success":
        total = mapping(mapping(found.get("eval")).get("dataset")).get("samples")
        there = len({str(mapping(sample).get("id")) for sample in samples})
        said = _unfinished(found, there, total)
        if whole and there != total:
            raise DataError(
                f"{path}: {said}: continue it with `inspect eval-retry`, or name the questions with --benchmark: those "
                "without an answer then score 0"
            )
        notes.append(f"{path.name}: {said}")
    epochs: dict[str, list[tuple[str, Mapping[str, Any]]]] = defaultdict(list)
    for place, sample in enumerate(samples):
        if not isinstance(sample, Mapping):
            raise DataError(f"{path}: sample {place}: must be a mapping (got {quoted(sample)})")
        epochs[f"epoch {sample.get('epoch', 1)}"].append((f"{path}: sample {sample.get('id', place)}", sample))
    chosen = picked(path, list(epochs), pick, "epoch")
    made = answer_file("inspect_ai", path, ((where, _parts(sample)) for where, sample in epochs[chosen]))
    return made._replace(notes=(*notes, *made.notes))


def read_archive(path: Path, content: bytes) -> Mapping[str, Any]:
    """Return the log in an `.eval` file.

    Raises:
        DataError: it is damaged, or no such archive.
    """
    try:
        with ZipFile(BytesIO(content)) as archive:
            members = {info.filename: info for info in archive.infolist()}
            header = members.get("header.json")
            # an evaluation that was killed has not written its header
            log = _json(archive, header, content) if header else {"status": "started"}
            names = [name for name in members if name.startswith("samples/") and name.endswith(".json")]
            samples = [_json(archive, members[name], content) for name in names]
    except (BadZipFile, ValueError, NotImplementedError, EOFError, OSError, struct.error, zlib_error) as error:
        raise DataError(f"{path}: is no readable .eval archive: {error}") from None
    if header is None and "_journal/start.json" not in members:
        raise DataError(f"{path}: is no log of inspect_ai: the archive has no header.json")
    if not isinstance(log, Mapping):
        raise DataError(f"{path}: is no log of inspect_ai: header.json must be a mapping")
    # they are in the order in which they ended
    ordered = sorted((sample for sample in samples if isinstance(sample, Mapping)), key=_place)
    return {**log, "samples": ordered}


def _place(sample: Mapping[str, Any]) -> tuple[int, int, str]:
    name = str(sample.get("id"))
    return int(sample.get("epoch") or 1), int(name) if name.isdecimal() else 0, name


def _json(archive: ZipFile, info: ZipInfo, content: bytes) -> Any:
    if info.compress_type != _ZSTANDARD:
        return parse_json(archive.read(info), spelled=True)
    import pyarrow

    # the member's own header: 26 bytes, then the lengths of its name and of what else it says
    name, other = struct.unpack_from("<HH", content, info.header_offset + 26)
    start = info.header_offset + 30 + name + other
    packed = content[start : start + info.compress_size]
    return parse_json(pyarrow.Codec("zstd").decompress(packed, info.file_size).to_pybytes(), spelled=True)


def _unfinished(found: Mapping[str, Any], there: int, total: Any) -> str:
    """Return how an evaluation ended, and how many of its samples the log has."""
    of = f"{there:,} of {counted(total, 'sample')}" if isinstance(total, int) else counted(there, "sample")
    message = " ".join(str(mapping(found.get("error")).get("message") or "").split())
    reason = f" ({shortened(message)})" if message else ""
    return f"the evaluation ended with status {found.get('status')}{reason}; its log has {of}"


def _parts(sample: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parts of a sample; one with an error has no answer."""
    attached, metadata = mapping(sample.get("attachments")), mapping(sample.get("metadata"))
    error = sample.get("error")
    reason = error.get("message") if isinstance(error, Mapping) else error
    return {
        "id": sample.get("id"),
        "question": metadata.get("question") or asked_in(sample.get("input"), attached),
        "answer": None if error else _answer(sample.get("output"), attached),
        "contexts": next((metadata[name] for name in CONTEXTS if metadata.get(name) is not None), None),
        "reference": sample.get("target"),
        "metadata": metadata,
        "error": (reason or "an error") if error else None,
    }


def _answer(output: Any, attached: Mapping[str, Any]) -> str:
    choices = mapping(output).get("choices")
    if isinstance(choices, list) and choices:
        return _text(mapping(mapping(choices[0]).get("message")).get("content"), attached)
    return _text(mapping(output).get("completion"), attached)


def asked_in(given: Any, attached: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Return the question in an input: of a conversation the last message of the user; a number as it is.

    Args:
        given: a text, or a list of messages.
        attached: texts that are elsewhere in the file, by name.
    """
    if isinstance(given, list):
        asked = [each.get("content") for each in given if isinstance(each, Mapping) and each.get("role") == "user"]
        given = asked[-1] if asked else ""
    return given if isinstance(given, int | float) else _text(given, attached)


def _text(content: Any, attached: Mapping[str, Any]) -> str:
    """Return the text of a message, without images and reasoning."""
    if isinstance(content, list):
        parts = [each for each in content if isinstance(each, Mapping) and each.get("type") == "text"]
        return "\n".join(_text(each.get("text"), attached) for each in parts)
    text = content if isinstance(content, str) else ""
    return str(attached.get(text.removeprefix(_ATTACHMENT), text)) if text.startswith(_ATTACHMENT) else text


def write(rows: Sequence[AnswerRow], about: Mapping[str, str]) -> str:
    """Write rows as the log of an evaluation that ended well and was not scored; failed answers are its errors."""
    created, model = "1970-01-01T00:00:00+00:00", f"ohr/{about.get('generator', 'unknown')}"  # the same bytes each time
    ids = [row.id or str(place) for place, row in enumerate(rows, 1)]
    log = {
        "version": 2,
        "status": "success",
        "eval": {
            "created": created,
            "task": str(about.get("run", "ohr")),
            "dataset": {"name": str(about.get("run", "ohr")), "samples": len(rows), "sample_ids": ids},
            "model": model,
            "config": {"epochs": 1},
            "metadata": dict(about),
        },
        "plan": {},
        "results": {"total_samples": len(rows), "completed_samples": sum(not row.error for row in rows), "scores": []},
        "stats": {"started_at": created, "completed_at": created},
        "samples": [_sample(name, row, model) for name, row in zip(ids, rows, strict=True)],
    }
    return json.dumps(log, ensure_ascii=False, indent=1) + "\n"


def _sample(name: str, row: AnswerRow, model: str) -> Mapping[str, Any]:
    message = {"role": "assistant", "content": row.answer, "model": model}
    contexts = {} if row.contexts is None else {"retrieved_contexts": row.contexts}
    evidence = {"reference_contexts": row.evidence} if row.evidence else {}
    error = {"message": row.error, "traceback": "", "traceback_ansi": ""}
    return {
        "id": name,
        "epoch": 1,
        "input": row.question,
        "target": row.references,
        "messages": [{"role": "user", "content": row.question}, message],
        "output": {"model": model, "choices": [{"message": message, "stop_reason": "stop"}]},
        "metadata": {**extra(row), **contexts, **evidence},
        **({"error": error} if row.error else {}),
    }
