"""A rule about what small models repeat: the example of their prompt."""

from ohr.messages.wording import quoted
from ohr.questions.candidate import Candidate
from ohr.questions.texts import Texts, letters

EXAMPLE_NAMES = ("Tarn Valley", "Skelby", "青溪铁路", "云岭镇")
"""Names in the examples of `writing/prompts`; ohr made them up, so few documents have them."""


def copies_the_example(candidate: Candidate, texts: Texts) -> str:
    """Remove questions with a name of the prompt's example that the document does not have."""
    if candidate.origin == "imported":
        return ""
    said = letters(" ".join((candidate.question, *candidate.answers, *(each.text for each in candidate.evidence)))).text
    there = texts.documents.get(candidate.document, "")
    names = (name for name in EXAMPLE_NAMES if letters(name).text in said and letters(name).text not in there)
    return next((f"says {quoted(name)}, which only the prompt's example has" for name in names), "")
