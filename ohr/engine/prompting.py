"""Prompts from files, and answers from replies."""

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

from ohr.contracts import Prompt
from ohr.errors import SpecError

_TAGGED = re.compile(r"</?response>(.*?)</?response>", re.DOTALL)


@lru_cache(maxsize=8)
def prompt_text(name: str) -> tuple[str, str]:
    """Read a prompt's system and user texts; `ohrbench` is the paper's (Table S12).

    Placeholders in the user text: `{question}` and `{retrieved_documents}`.
    """
    folder = files("ohr.generators.prompts")
    try:
        return tuple(folder.joinpath(f"{name}.{part}.md").read_text("utf-8").strip() for part in ("system", "user"))  # type: ignore[return-value] # two parts
    except FileNotFoundError:
        known = sorted(path.name.split(".")[0] for path in folder.iterdir() if path.name.endswith(".system.md"))
        raise SpecError(f"no prompt {name!r}; there are: {', '.join(known)}") from None


def make_prompt(name: str, question: str, passages: Sequence[str]) -> Prompt:
    """Fill a prompt; the passages are joined by blank lines, as in OHRBench's code."""
    system, user = prompt_text(name)
    # one pass, so that a passage that contains a placeholder is left alone
    values = {"question": question, "retrieved_documents": "\n\n".join(passages)}
    filled = re.sub(r"\{(question|retrieved_documents)\}", lambda match: values[match[1]], user)
    return Prompt(question, tuple(passages), system, filled)


def parse_answer(reply: str) -> str:
    """Take the answer out of a reply: the text in the last <response> tags, or the whole reply without tags.

    As the benchmark's code does; small models often leave the tags away.
    """
    answer = reply.split("<response>")[-1].split("</response>")[0].strip()
    if answer:
        return answer
    tagged = _TAGGED.search(reply)
    return tagged[1].strip() if tagged else ""
