"""The table that was published for the TableQuest of finqa-tablequest-bench, shipped as printed in `published/`."""

from functools import lru_cache

from ohr.contracts import Published
from ohr.files.printed import PrintedTables

_PRINTED = PrintedTables(__package__)
rows = _PRINTED.rows


@lru_cache(maxsize=1)
def published() -> tuple[Published, ...]:
    """Read the accuracies, as shares in [0, 1], in the order of the file."""
    return tuple(
        Published(
            system=row["system"],
            stage="overall",
            metric=table["metric"],
            group="all",
            value=float(row["accuracy"]),
            setting=table["setting"].format(**row),
            table=f"{table['table']}, {table['source']}, {table['date']}",
            main=True,
        )
        for table in _PRINTED.tables
        for row in rows(table["file"])
    )
