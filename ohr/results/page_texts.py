"""The pages of a run's knowledge bases as text files."""

from hashlib import sha256
from pathlib import Path
from re import sub

from ohr.results.folder.replace import filled
from ohr.results.run import Run
from ohr.results.tables.read_table import reading

_LONGEST = 100  # characters of a name; file systems allow 255 bytes


def export_texts(run: Run, out: Path, *, force: bool = False) -> int:
    """Write every page as `<knowledge base>/<document>/page-<number>.txt`, numbered from 1; returns how many.

    Characters that a file system might refuse become `_`; a name that changed so gets a hash of the whole one.

    Args:
        run: to export.
        out: a folder that does not exist yet, is empty, or was left unfinished.
        force: keep a folder with other files as `<name>.bak-<time>`.

    Raises:
        DataError: the table of texts is damaged, or the folder has files or cannot be written.
    """
    from pyarrow import parquet

    path, count = run.path("texts"), 0
    about = {"command": "export --texts", "run": str(run.folder.resolve())}
    with filled(out, "--texts", about, force=force), reading(path):
        batches = parquet.ParquetFile(path).iter_batches(1_000, columns=["kb", "document", "page", "text"])
        for batch in batches:
            for row in batch.to_pylist():
                place = out / safe_name(row["kb"]) / Path(*map(safe_name, row["document"].split("/")))
                place.mkdir(parents=True, exist_ok=True)
                text = (row["text"] or "").encode("utf-8", "replace")
                (place / f"page-{row['page'] + 1:04}.txt").write_bytes(text)
                count += 1
    return count


def safe_name(name: str) -> str:
    """Return a name that every file system takes; different names stay different."""
    plain = sub(r"[^\w.#+=@ -]", "_", name)[:_LONGEST].strip(" ") or "_"
    plain = f"_{plain}" if plain.startswith(".") else plain
    return plain if plain == name else f"{plain}-{sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"
