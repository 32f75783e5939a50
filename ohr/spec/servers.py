"""Rules for the servers that a spec asks, over all its plugins."""

from collections.abc import Callable, Collection, Iterable, Iterator

from ohr.contracts import Generator, Stage
from ohr.contracts.stage import within
from ohr.messages.wording import counted
from ohr.models.batches import count_under_way
from ohr.spec.model import Spec
from ohr.spec.source import Note

_LIMITS = ("requests_per_minute", "tokens_per_minute")


def limits_that_differ(stages: Iterable[Stage]) -> Iterator[Note]:
    """Yield limits that differ for one model of a server: it counts all that ask it with one key."""
    known: dict[tuple[object, ...], tuple[object, ...]] = {}
    for stage in dict.fromkeys(part for each in stages for part in within(each)):
        fields = dict(stage)
        if _LIMITS[0] not in fields:
            continue
        server = fields["base_url"], fields["model"], fields["api_key_env"]
        limits = tuple(fields[name] for name in _LIMITS)
        if known.setdefault(server, limits) != limits:
            names = " and ".join(_LIMITS)
            says = f"is asked with different limits: give {names} the same values wherever it is named"
            yield ((), f"{fields['model']} at {fields['base_url']} {says}")


def sent_singly(spec: Spec) -> Iterator[str]:
    """Report agents whose models have `batch`, which is not used."""
    for agent in spec.agents:
        models = [part for part in within(agent.stage) if isinstance(part, Generator) and part.posts]
        if models:
            yield f"{agent.name}: `batch` is for prompts; the calls of an agent wait for each other and are sent singly"


def left_at_servers(spec: Spec, pins: Callable[[], Collection[str]]) -> Iterator[str]:
    """Report batches under way for models that the spec asks without `batch`: their prompts are sent again, singly.

    Args:
        pins: returns the names of the pins of the store.
    """
    generators = [part for stage in spec.stages() for part in within(stage) if isinstance(part, Generator)]
    singly = dict.fromkeys(str(dict(part)["model"]) for part in generators if "batch" in dict(part) and not part.posts)
    for model, count in (count_under_way(pins(), singly) if singly else {}).items():
        verb = "waits" if count == 1 else "wait"
        yield (
            f"{counted(count, 'batch', 'batches')} of prompts for {model} {verb} at the server, of this or of another "
            "study: with `batch` this study takes the replies that it needs; without, it sends its prompts one by one"
        )
