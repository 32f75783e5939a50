"""The names that systems have for the parts of a page, and the kinds of blocks that these are."""

import re
from collections.abc import Mapping

from ohr.contracts import BlockKind

_LABELS: Mapping[BlockKind, str] = {
    "heading": "title doc_title paragraph_title section_header",
    "list": "list list_item list_group index",
    "code": "code algorithm",
    "table": "table table_of_contents",
    "formula": "formula display_formula equation equation_interline interline_equation",
    "caption": "caption figure_caption table_caption figure_title table_title chart_title",
    "footnote": "footnote page_footnote vision_footnote",
    "image": "image picture figure chart",
    "header": "header page_header header_image",
    "footer": "footer page_footer footer_image",
    "page_number": "page_number",
}
LABELS: Mapping[str, BlockKind] = {label: kind for kind, labels in _LABELS.items() for label in labels.split()}
"""The kind of block by label; a label means the same in all systems that write it."""
_BETWEEN_WORDS = re.compile(r"-|(?<=[a-z])(?=[A-Z])")


def kind_of(label: object) -> BlockKind:
    """Return the kind of a label, written as `section_header`, `Section-header` or `SectionHeader`; most are text."""
    return LABELS.get(_BETWEEN_WORDS.sub("_", str(label)).lower(), "text")
