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
    """The content of a prompt file; `user` holds the placeholders `{question}` and `{retrieved_documents}`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    system: Annotated[str, Field(description="The system's message.")] = ""
    user: Annotated[str, Field(pattern=r"\{question\}", description="The user's message.")]
    opening: Annotated[str, Field(description="Words with which the reply has to begin.")] = ""


@lru_cache(maxsize=32)
def read_prompt(prompt: str | Path) -> PromptTemplate:
    """Read one of ohr's own prompts by its name, or a prompt file by its path.

    `ohrbench` is the paper's (Table S12); `ohrbench_code` is the one in the benchmark's code, which differs from it.

    Raises:
        SpecError: the prompt does not exist, or its file holds something else.
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
    except ValidationError as error:
        raise SpecError(f"prompt {prompt}: {_sentence(error)}") from None
    except (YAMLError, ValueError, KeyError) as error:  # also not UTF-8, a path with a null byte, `!!bool x`
        raise SpecError(f"prompt {prompt}: not YAML: {' '.join(str(error).split())}") from None


def _sentence(error: ValidationError) -> str:
    """Describe the first fault of a prompt file."""
    first = error.errors(include_url=False)[0]
    key = ".".join(map(str, first["loc"]))
    faults = {
        "model_type": "must be a mapping with `user`, and perhaps `system` and `opening`",
        "missing": "is required",
        "string_type": "must be text",
        "string_pattern_mismatch": "must have the placeholder {question}; the other is {retrieved_documents}",
        "extra_forbidden": f"unknown key. {choices(key, tuple(PromptTemplate.model_fields))}",
    }
    return f"{key}: {faults.get(first['type'], first['msg'])}".removeprefix(": ")


def make_prompt(
    protocol: ScoringProtocol,
    question: str,
    passages: Sequence[str],
    images: Sequence[Image] = (),
    *,
    prompt: str | Path | None = None,
) -> Prompt:
    """Fill in a prompt, by default the protocol's; blank lines join the passages, as in OHRBench's code."""
    template = read_prompt(prompt or protocol.prompt)
    if protocol.passage_end is not None:
        passages = [passage.split(protocol.passage_end)[0] for passage in passages]
    # one pass, so that a passage that contains a placeholder is left alone
    values = {"question": question, "retrieved_documents": "\n\n".join(passages)}
    filled = _PLACEHOLDER.sub(lambda match: values[match[1]], template.user)
    return Prompt(question, tuple(passages), template.system, filled, images, template.opening)


def parse_answer(reply: str) -> str:
    """Return the text in the last <response> tags of a reply, or the whole reply if it has none.

    The benchmark's code does the same; small models often omit the tags.
    """
    answer = reply.split("<response>")[-1].split("</response>")[0].strip()
    if answer:
        return answer
    tagged = _TAGGED.search(reply)
    return tagged[1].strip() if tagged else ""
