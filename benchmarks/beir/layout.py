"""Where the files of a BEIR data set are: `corpus.jsonl`, `queries.jsonl` and `qrels/<split>.tsv`, each also as .gz."""

from collections.abc import Mapping
from pathlib import Path

from ohr.errors import DataError
from ohr.messages.wording import named
from ohr.registry import choices

SAMPLE = Path(__file__).parent / "sample" / "harbor"

_QRELS = (".tsv", ".txt", ".qrels", ".trec")


def file_of(root: Path, name: str) -> Path:
    """Return `corpus.jsonl` or `queries.jsonl` of a data set, or the one that is packed.

    Raises:
        DataError: there is none; the message says what the folder has.
    """
    for path in (root / name, root / f"{name}.gz"):
        if path.is_file():
            return path
    if not root.is_dir():
        raise DataError(f"{root}: no such folder")
    there = sorted(f"{path.name}/" if path.is_dir() else path.name for path in root.iterdir())
    below = sorted(path.parent.name for path in root.glob(f"*/{name}*"))
    hint = f"; root may be meant to be {root / below[0]}" if below else ""
    raise DataError(f"{root}: has neither {name} nor {name}.gz; it has {named(there) or 'nothing'}{hint}")


def splits(root: Path) -> Mapping[str, Path]:
    """Return the files of judgments by split; of several files of a split, the .tsv."""
    found: dict[str, Path] = {}
    for path in sorted((root / "qrels").glob("*"), key=lambda path: (".tsv" not in path.suffixes, path.name)):
        name = path.name.removesuffix(".gz")
        if path.is_file() and name.endswith(_QRELS):
            found.setdefault(name[: name.rindex(".")], path)
    return found


def split_file(root: Path, split: str) -> Path:
    """Return the file of a split's judgments.

    Raises:
        DataError: there is none; the message lists those that are there.
    """
    there = splits(root)
    if not there:
        raise DataError(f"{root}: has no judgments; they belong into qrels/{split}.tsv")
    if split not in there:
        raise DataError(f"{root}: has no split {split!r}. {choices(split, list(there))}")
    return there[split]
