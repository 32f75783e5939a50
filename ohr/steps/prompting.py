"""Prompts from files, and answers from replies."""

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from ohr.contracts import Image, Prompt, ScoringProtocol
from ohr.errors import SpecError
from ohr.registry import choices

_TAGGED = re.compile(r"</?response>(.*?)</?response>", re.DOTALL)
_PLACEHOLDER = re.compile(r"\{(question|retrieved_documents)\}")


class PromptTemplate(BaseModel):
    """A prompt's file; `user` holds the placeholders `{question}` and `{retrieved_documents}`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    system: Annotated[str, Field(description="The system's message.")] = ""
    user: Annotated[str, Field(pattern=r"\{question\}", description="The user's message.")]
    opening: Annotated[str, Field(description="Words that the reply is made to begin with.")] = ""


@lru_cache(maxsize=32)
def read_prompt(prompt: str | Path) -> PromptTemplate:
    """Read a prompt that comes with ohr by its name or a file by its path.

    `ohrbench` is the paper's (Table S12); `ohrbench_code` is that of the benchmark's code, which differs from it.

    Raises:
        SpecError: there is no such prompt, or its file is not one.
    """
    folder = files("ohr.generators.prompts")
    known = sorted(path.name.removesuffix(".yaml") for path in folder.iterdir() if path.name.endswith(".yaml"))
    if isinstance(prompt, str) and prompt not in known:
        raise SpecError(f"no prompt {prompt!r}. {choices(prompt, known)} Or name a file, as in ./my_prompt.yaml")
    try:
        source = prompt if isinstance(prompt, Path) else folder.joinpath(f"{prompt}.yaml")
        return PromptTemplate.model_validate(YAML(typ="safe", pure=True).load(source.read_text("utf-8")))
    except OSError as error:
        raise SpecError(f"prompt {prompt}: {error.strerror}") from None
    except (YAMLError, UnicodeError) as error:
        raise SpecError(f"prompt {prompt}: not YAML: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        raise SpecError(f"prompt {prompt}: {_told(error)}") from None


def _told(error: ValidationError) -> str:
    """Say in a sentence what is wrong with a prompt's file."""
    first = error.errors(include_url=False)[0]
    key = ".".join(map(str, first["loc"]))
    told = {
        "model_type": "must be a mapping with `user`, and perhaps `system` and `opening`",
        "missing": "is required",
        "string_type": "must be text",
        "string_pattern_mismatch": "must have the placeholder {question}; the other is {retrieved_documents}",
        "extra_forbidden": f"unknown key. {choices(key, tuple(PromptTemplate.model_fields))}",
    }
    return f"{key}: {told.get(first['type'], first['msg'])}".removeprefix(": ")


def make_prompt(
    protocol: ScoringProtocol,
    question: str,
    passages: Sequence[str],
    images: Sequence[Image] = (),
    *,
    prompt: str | Path | None = None,
) -> Prompt:
    """Fill a prompt, by default the protocol's; the passages are joined by blank lines, as in OHRBench's code."""
    template = read_prompt(prompt or protocol.prompt)
    if protocol.passage_end is not None:
        passages = [passage.split(protocol.passage_end)[0] for passage in passages]
    # one pass, so that a passage that contains a placeholder is left alone
    values = {"question": question, "retrieved_documents": "\n\n".join(passages)}
    filled = _PLACEHOLDER.sub(lambda match: values[match[1]], template.user)
    return Prompt(question, tuple(passages), template.system, filled, images, template.opening)


def parse_answer(reply: str) -> str:
    """Take the answer out of a reply: the text in the last <response> tags, or the whole reply without tags.

    As the benchmark's code does; small models often leave the tags away.
    """
    answer = reply.split("<response>")[-1].split("</response>")[0].strip()
    if answer:
        return answer
    tagged = _TAGGED.search(reply)
    return tagged[1].strip() if tagged else ""
