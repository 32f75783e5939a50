"""Prompts from files, and answers from replies."""

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

from ohr.contracts import Image, Prompt, ScoringProtocol
from ohr.errors import SpecError

_TAGGED = re.compile(r"</?response>(.*?)</?response>", re.DOTALL)


@lru_cache(maxsize=8)
def prompt_text(name: str) -> tuple[str, str]:
    """Read a prompt's system and user texts, to the last space; a file ends with one line end that is not the text's.

    `ohrbench` is the paper's (Table S12); `ohrbench_code` is that of the benchmark's code, which differs from it.
    Placeholders in the user text: `{question}` and `{retrieved_documents}`.
    """
    folder = files("ohr.generators.prompts")
    try:
        system, user = (folder.joinpath(f"{name}.{part}.md").read_text("utf-8") for part in ("system", "user"))
    except FileNotFoundError:
        known = sorted(path.name.split(".")[0] for path in folder.iterdir() if path.name.endswith(".system.md"))
        raise SpecError(f"no prompt {name!r}; there are: {', '.join(known)}") from None
    return system.removesuffix("\n"), user.removesuffix("\n")


def make_prompt(
    protocol: ScoringProtocol, question: str, passages: Sequence[str], images: Sequence[Image] = ()
) -> Prompt:
    """Fill a protocol's prompt; the passages are joined by blank lines, as in OHRBench's code."""
    system, user = prompt_text(protocol.prompt)
    if protocol.passage_end is not None:
        passages = [passage.split(protocol.passage_end)[0] for passage in passages]
    # one pass, so that a passage that contains a placeholder is left alone
    values = {"question": question, "retrieved_documents": "\n\n".join(passages)}
    filled = re.sub(r"\{(question|retrieved_documents)\}", lambda match: values[match[1]], user)
    return Prompt(question, tuple(passages), system, filled, images)


def parse_answer(reply: str) -> str:
    """Take the answer out of a reply: the text in the last <response> tags, or the whole reply without tags.

    As the benchmark's code does; small models often leave the tags away.
    """
    answer = reply.split("<response>")[-1].split("</response>")[0].strip()
    if answer:
        return answer
    tagged = _TAGGED.search(reply)
    return tagged[1].strip() if tagged else ""
