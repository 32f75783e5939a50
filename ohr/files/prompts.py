"""Prompt files: YAML that ohr brings, by name, or a user's own, by path."""

import re
import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from ohr.errors import SpecError
from ohr.registry import choices

Template = TypeVar("Template", bound=BaseModel)


_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def filled(template: str, **values: str) -> str:
    """Fill the placeholders `{name}` of a template, in one pass: a value that holds a placeholder is left alone."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), template)


def read_prompt_file(
    prompt: str | Path, template: type[Template], package: str, what: str, faults: Mapping[str, str]
) -> Template:
    """Read a prompt file.

    Args:
        prompt: name of one of ohr's, `package:name` for one of an imported package (in its folder `prompts`, where it
            has one), or path of a file.
        template: what the file holds.
        package: that ohr's own are in.
        what: names the kind of prompt in messages.
        faults: what to report for a fault, by pydantic's name of it; the others in pydantic's words.

    Raises:
        SpecError: the prompt does not exist, or its file holds something else.
    """
    if isinstance(prompt, str) and (owner := prompt.partition(":")[0]) in sys.modules:  # never imports by a spec's text
        package, prompt = owner, prompt.partition(":")[2]
    folder = files(package)
    folder = inner if (inner := folder.joinpath("prompts")).is_dir() else folder
    known = sorted(path.name.removesuffix(".yaml") for path in folder.iterdir() if path.name.endswith(".yaml"))
    if isinstance(prompt, str) and prompt not in known:
        raise SpecError(f"no {what} {prompt!r}. {choices(prompt, known)} Or name a file, as in ./my_prompt.yaml")
    try:
        source = prompt if isinstance(prompt, Path) else folder.joinpath(f"{prompt}.yaml")
        return template.model_validate(YAML(typ="safe", pure=True).load(source.read_text("utf-8")))
    except OSError as error:
        raise SpecError(f"{what} {prompt}: {error.strerror}") from None
    except ValidationError as error:
        raise SpecError(f"{what} {prompt}: {_sentence(error, template, faults)}") from None
    except (YAMLError, ValueError, KeyError) as error:  # also not UTF-8, a path with a null byte, `!!bool x`
        raise SpecError(f"{what} {prompt}: not YAML: {' '.join(str(error).split())}") from None


def _sentence(error: ValidationError, template: type[BaseModel], faults: Mapping[str, str]) -> str:
    """Describe the first fault of a prompt file."""
    first = error.errors(include_url=False)[0]
    key = ".".join(map(str, first["loc"]))
    common = {
        "missing": "is required",
        "string_type": "must be text",
        "extra_forbidden": f"unknown key. {choices(key, tuple(template.model_fields))}",
    }
    return f"{key}: {({**common, **faults}).get(first['type'], first['msg'])}".removeprefix(": ")
