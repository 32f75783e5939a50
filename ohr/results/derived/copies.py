"""Copies of the clean text that a spec calls engines: folders of results whose pages are those of the ground truth."""

from ohr.results.run import Run
from ohr.results.tables.groups import ALL
from ohr.treatments import recorded_treatments

_COPIED = "precomputed"


def copies_of_clean(run: Run) -> set[str]:
    """List the conditions that read a folder of results with the text of the clean knowledge base on every page.

    Raises:
        DataError: the table of texts is damaged.
    """
    bases = [base for base in run.manifest["spec"].get("knowledge_bases", ()) if "condition" in base]
    treatments = {base["condition"]: recorded_treatments(base) for base in bases}
    kinds = {condition: each[0].keys.get("kind") for condition, each in treatments.items() if len(each) == 1}
    known = run.rows("summary", ["condition", "verdict"], by="evidence_source", group=ALL)
    differ = {row["condition"] for row in known if row["verdict"] not in (None, "", "identical")}
    read = [condition for condition, kind in kinds.items() if kind == _COPIED and condition not in differ]
    clean = [condition for condition, kind in kinds.items() if kind == "ground_truth"]
    if not read or not clean:
        return set()
    truth = _texts(run, clean[0])
    return {condition for condition in read if truth and _texts(run, condition) == truth}


def _texts(run: Run, condition: str) -> dict[tuple[str, int], str]:
    rows = run.rows_if_any("texts", ["document", "page", "text"], condition=condition, replicate=0)
    return {(row["document"], row["page"]): row["text"] for row in rows}
