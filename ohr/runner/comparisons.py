"""Which conditions of a study are compared with clean text."""

from collections import defaultdict
from collections.abc import Mapping

from ohr.graph.cells import cells
from ohr.results.tables.groups import STAGES
from ohr.spec.model import Spec
from ohr.treatments import plain_scans


def uncompared(spec: Spec) -> list[str]:
    """Warn where a spec scores conditions and compares none of them with clean text, with what helps."""
    if (compared := comparisons(spec)) and not any(compared.values()):
        if all(base.noise_type == "none" for base in spec.knowledge_bases):
            return ["no condition has noise or is read by an OCR engine: the run cannot show what noise costs"]
        return [
            "no condition can be compared with clean text, so the run cannot show what noise costs: add `- name: "
            "ground_truth` if the benchmark has the pages' clean text; for scans, the same engine without noise"
        ]
    return []


def comparisons(spec: Spec) -> Mapping[str, int]:
    """Count by stage the noisy conditions of a pipeline that has clean text or plain scans: the most of one."""
    plain = plain_scans(spec.resolved["knowledge_bases"])
    conditions = defaultdict[tuple[str, ...], set[str]](set)
    for cell in cells(spec):
        if cell.stage in STAGES and not cell.swap and not cell.base.again_of:
            parts = (cell.chunker, cell.retriever, cell.generator, cell.agent)
            noisy = cell.base.condition if cell.base.noise_type != "none" else ""
            conditions[cell.stage, *(part.name if part else "" for part in parts)].add(noisy)
    compared: dict[str, int] = {}
    for (stage, *_), names in conditions.items():
        compared[stage] = max(compared.get(stage, 0), len(names) - 1 if "" in names else len(names & plain.keys()))
    return compared
