"""The steps that read pages: in batches, or document by document, as the engine wants them."""

from collections.abc import Mapping, Sequence

from ohr.contracts import OcrBackend
from ohr.graph.cache_keys import Keys
from ohr.graph.graph import Graph
from ohr.spec.model import KnowledgeBase
from ohr.steps.documents.page_images import PageImage
from ohr.steps.documents.read_pages import ReadDocument, ReadPages
from ohr.work.step import Step


def add_pages(
    graph: Graph, keys: Keys, base: KnowledgeBase, wanted: Mapping[str, Sequence[int]]
) -> dict[str, list[str]]:
    """Add the steps that read pages of some documents, in batches over documents as large as the engine takes.

    Args:
        wanted: places of pages in the order in which the engine gets them, by the name of their document.

    Returns:
        the keys of these pages, by document; none where the backend reads no images.
    """
    found: dict[str, list[str]] = {name: [] for name in wanted}
    if not isinstance(base.ocr, OcrBackend):
        return found
    recipe, pages = keys.images(base), dict[str, PageImage]()
    for name, indices in wanted.items():
        document = keys.inputs.by_name[name]
        leaf = keys.inputs.leaf(document, images=True)
        placed = keys.read_order(base, document)
        read = range(len(placed)) if base.ocr.reads_documents else indices
        own = {index: keys.page(base, document, index) for index in read}
        found[name] = [own[index] for index in indices]
        new = {key: placed[index].place for index, key in own.items() if key not in graph.steps}
        images = {key: recipe.page(document, place, leaf) for key, place in new.items()}
        if not base.ocr.reads_documents:
            pages |= images
        elif images:
            work = ReadDocument(tuple(images.values()), base.ocr, base.name, keys.spec.benchmark)
            graph.add(Step(work, tuple(images)))
    names, size = list(pages), base.ocr.batch_size
    for batch in (tuple(names[start : start + size]) for start in range(0, len(names), size)):
        graph.add(Step(ReadPages(tuple(pages[name] for name in batch), base.ocr, base.name), batch))
    return found
