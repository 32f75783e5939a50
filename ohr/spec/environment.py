"""Environment variables that a run sends, and the servers that receive them."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ohr.contracts import Stage
from ohr.messages.variables import VARIABLE
from ohr.messages.wording import quoted
from ohr.spec.model import Spec

_USUAL = "_API_KEY"


def fault_of_variable(name: str, allowed: Collection[str]) -> str | None:
    """Explain why a variable may not be sent to a server; None when it may.

    A spec is often somebody else's. It may name a key for a model's server; with any other variable it could carry off
    what it was never meant to see.
    """
    if name.endswith(_USUAL) or name in allowed:
        return None
    return (
        f"would send the environment variable {quoted(name)} to a server: only those whose names end in {_USUAL} are "
        f"sent unasked. If it holds the key for this server, add --allow-env {name}"
    )


def variables_of(keys: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the variables that a plugin sends to its server, from its keys or fields, each after the key with it."""
    name, headers = keys.get("api_key_env"), keys.get("headers")
    if isinstance(name, str) and ("base_url" in keys or "url" in keys):
        yield "api_key_env", name
    for value in headers.values() if isinstance(headers, Mapping) else ():
        yield from (("headers", variable) for variable in VARIABLE.findall(str(value)))


def sent(spec: Spec) -> Iterator[str]:
    """Say, for each plugin that has a key, which variable goes to which host."""
    values = [value for stage in spec.stages() for _, value in stage]
    parts = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
    inside = [part for part in parts if isinstance(part, Stage)]
    for stage in dict.fromkeys((*spec.stages(), *inside)):
        fields = dict(stage)
        for _, name in variables_of(fields):
            # host and port, without the user and password that a URL may hold
            url = str(fields.get("url") or fields["base_url"])
            host = re.split(r"[/?#]", url.partition("://")[2])[0].rpartition("@")[2]
            yield f"{stage.family} {stage.kind} sends {name} to {host}"
