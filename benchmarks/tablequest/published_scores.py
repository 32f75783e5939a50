"""The tables that were published for TableQuest, shipped as they were printed in `published/`."""

from functools import lru_cache

from ohr.contracts import Published
from ohr.files.printed import PrintedTables

_LEVELS = ("overall", "easy", "medium", "hard")


WARNING = "the ratings follow with gpt-4o-vision as the opponent and gpt-4o at 1000, as under protocol reference"

_PRINTED = PrintedTables(__package__)
rows = _PRINTED.rows


@lru_cache(maxsize=2)
def published(*, on_the_papers_scale: bool) -> tuple[Published, ...]:
    """Read ratings and accuracies, in the order of `tables.yaml`; accuracies are shares in [0, 1], ratings as printed.

    The recall of Table 4 is left out, since it is no score of a system; `rows` has it.

    Args:
        on_the_papers_scale: own ratings are on the paper's scale too, so that published ones need no warning.
    """
    return tuple(
        Published(
            system=row["system"],
            stage="generation",
            metric=table["metric"] if level == "overall" else table["by_level"],
            group="all" if level == "overall" else f"level={level}",
            value=float(row[level]) / (100 if table["unit"] == "share" else 1),
            setting=table["setting"],
            table=f"{table['table']}, {table['source']}, {table['date']}",
            main=True,
            unit=table["unit"],
            warning=WARNING if table["metric"] == "elo" and not on_the_papers_scale else "",
        )
        for table in _PRINTED.tables
        if "unit" in table
        for row in rows(table["file"])
        for level in _LEVELS
        if row.get(level)
    )
