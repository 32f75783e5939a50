"""Names in texts, by which two pages are connected.

Chinese names come from the tags of jieba-rs, which ohr has anyway. English ones come from a spaCy model that the user
names, else from capital letters: no package brings a tested English model with it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby

from ohr import extras
from ohr.contracts import Page
from ohr.errors import SpecError
from ohr.questions.truth_texts import Texts, stems
from ohr.text.chinese import HAS_HAN

Entities = Callable[[str, str], frozenset[str]]
"""Returns the names in a text; its second argument is the text's language."""

_CHINESE_TAGS = ("nr", "ns", "nt", "nz")
"""jieba's tags of people, places, organizations and other names."""
_ORGANIZATION = re.compile(
    "(?:有限公司|股份公司|公司|集团|银行|大学|学院|学校|医院|委员会|研究院|研究所|法院|政府|协会|中心|工厂|厂|局|路|街|桥|河|湖|村|镇|县|市|区|站|线)"
)
"""Words that end a name: jieba cuts a new company's name into pieces."""
_CAPITALS = re.compile(
    r"(?<![.!?:;\n*#|&] )(?<![\n\"“‘(|*#>&])(?<!\A)\b"
    r"(?:[A-Z][\w'’&-]*[a-z\d][\w'’&-]*|[A-Z]{2,}[\w-]*)(?: (?:(?:of|and|de|the|for|von|van) )?[A-Z\d][\w'’&-]*)*"
)
"""Capital words inside a sentence, one after the other: the first word of a sentence proves nothing."""
_POSSESSIVE = re.compile(r"['’]s(?: |$)")
_NAME_LENGTH = 60
_CHINESE_SIGNS = 3
"""Signs of a Chinese name: of shorter words with the tags of names, many on mini's pages are none (太阳, 上台)."""
_KINDS = frozenset({"CARDINAL", "ORDINAL", "PERCENT", "QUANTITY", "MONEY", "TIME", "DATE", "LANGUAGE"})
"""spaCy's kinds that are no names."""


def entities_of(pages: Mapping[str, Sequence[Page]], model: str | None = None) -> Entities:
    """Return what finds names in the texts of a collection.

    Args:
        pages: a capital word of English is a name only where few of these documents have it.
        model: a spaCy model, by its package's name or its folder; used for its own language.

    Raises:
        MissingExtra: spaCy is not installed.
        SpecError: spaCy does not have the model.
    """
    texts = Texts(pages)
    language, recognize = _spacy(model) if model else ("", None)

    @lru_cache(maxsize=1 << 14)
    def names(text: str, of_text: str) -> frozenset[str]:
        if recognize and of_text == language:
            return recognize(text)
        return chinese_names(text) if of_text == "zh" else capital_names(text, texts)

    return names


def capital_names(text: str, texts: Texts) -> frozenset[str]:
    """Return the runs of capital words inside sentences with a word that few documents have."""
    runs = (" ".join(match[0].split()) for match in _CAPITALS.finditer(text))
    found = {name for run in runs for name in _POSSESSIVE.split(run) if name}
    return frozenset(name for name in found if any(map(texts.is_rare, stems(name))))


def chinese_names(text: str) -> frozenset[str]:
    """Return the runs of words that jieba tags as names, with the word that ends them, such as 公司."""
    import rjieba

    tagged = rjieba.tag(text)
    found = set()
    for named, group in groupby(
        tagged, key=lambda word: word[1].startswith(_CHINESE_TAGS) or bool(_ORGANIZATION.fullmatch(word[0]))
    ):
        words = list(group)
        name = "".join(word for word, _ in words)
        if named and len(name) >= _CHINESE_SIGNS and HAS_HAN.search(name) and not _ORGANIZATION.fullmatch(name):
            found.add(name)
    return frozenset(found)


def _spacy(model: str) -> tuple[str, Callable[[str], frozenset[str]]]:
    """Load a spaCy model; return its language and what finds names with it."""
    spacy = extras.load("spacy", "entities")
    try:
        pipeline = spacy.load(model)
    except (OSError, ValueError) as error:  # ValueError: the folder holds another thing, or a part is not installed
        reason = next(iter(str(error).splitlines()), "")
        raise SpecError(
            f"questions.entities: cannot load the spaCy model {model!r}: {reason} Install it with `python -m spacy "
            f"download {model}`, name a folder, or leave the key out"
        ) from None
    if not {"ner", "entity_ruler", "span_ruler"} & set(pipeline.pipe_names):
        raise SpecError(f"questions.entities: the spaCy model {model!r} finds no names: it has no part `ner`")

    def recognize(text: str) -> frozenset[str]:
        found = {" ".join(each.text.split()) for each in pipeline(text).ents if each.label_ not in _KINDS}
        return frozenset(name for name in found if 1 < len(name) <= _NAME_LENGTH)

    return str(pipeline.lang), recognize
