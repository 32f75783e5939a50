"""The key `decompose`: the conditions whose loss is split by stage, and what it needs of a spec."""

from collections.abc import Iterable, Sequence

from ohr.contracts import AnyRetriever
from ohr.spec.build import Builder
from ohr.spec.file_keys import SpecFile
from ohr.spec.model import KnowledgeBase, Named


def noisy_conditions(bases: Iterable[KnowledgeBase]) -> tuple[str, ...]:
    """Return the conditions with noise, each once, without those that repeat another one."""
    return tuple(dict.fromkeys(base.condition for base in bases if base.noise_type != "none" and not base.again_of))


def check_swaps(
    builder: Builder, file: SpecFile, bases: Sequence[KnowledgeBase], retrievers: Sequence[Named[AnyRetriever]]
) -> None:
    """Note why the texts of a spec with `decompose` cannot be swapped; an entry with a fault may be what is missing."""
    if file.decompose and not builder.faults:
        builder.fault(("decompose",), _fault(bases, retrievers, file.evaluate))


def _fault(
    bases: Sequence[KnowledgeBase], retrievers: Sequence[Named[AnyRetriever]], stages: Sequence[str]
) -> str | None:
    clean = [base for base in bases if base.noise_type == "none"]
    noisy = [base for base in bases if base.noise_type != "none"]
    if not {"retrieval", "overall"} & set(stages):
        return "splits the loss of retrieval and overall: `evaluate` must have one of them"
    if not clean:
        return (
            "compares with a knowledge base without noise, and there is none: add `- name: ground_truth` under "
            "`knowledge_bases`"
        )
    if not noisy:
        return "splits the loss to noise: `knowledge_bases` must have one with noise"
    texts = [named.name for named in retrievers if not named.stage.reads_images]
    if retrievers and not texts:
        return "swaps the text that is read: it needs a retriever that does not look at page images"
    if retrievers and not any(
        one.uses(name) and other.uses(name) for one in clean for other in noisy for name in texts
    ):
        return "needs a retriever that searches a knowledge base with noise and the one without"
    return None
