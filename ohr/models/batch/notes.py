"""Notes of the batches under way. They are pinned: to prune one would send its batch for the second time."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass

from ohr.contracts import Notes
from ohr.keys import key
from ohr.models.batch.server import is_id


@dataclass
class Noted:
    """A batch as it is noted.

    Args:
        name: its key in the notes, and its name at the server.
        openings: by the names of its prompts, what their replies begin with.
        file: the server's name of its file, once it was uploaded.
        asked: the server was asked to start it, or is about to be.
        id: the server's name of it.
    """

    name: str
    openings: dict[str, str]
    file: str = ""
    asked: bool = False
    id: str = ""


@dataclass(frozen=True)
class BatchNotes:
    """Notes of a model's batches, and by the name of each prompt the batch that it is in."""

    notes: Notes
    model: str

    def add(self, noted: Noted) -> None:
        """Note a new batch."""
        self.notes.pin(self._pin(noted), [noted.name, *map(_place, noted.openings)])
        self.notes.put_many({noted.name: asdict(noted), **{_place(name): noted.name for name in noted.openings}})

    def change(self, noted: Noted) -> None:
        """Note how far a batch is."""
        self.notes.put_many({noted.name: asdict(noted)})

    def forget(self, noted: Noted) -> None:
        """Remove the notes of a batch."""
        self.notes.discard([noted.name, *map(_place, noted.openings)])
        self.notes.unpin(self._pin(noted))

    def under_way(self, prompts: Iterable[str]) -> list[Noted]:
        """Return the batches that have some of the prompts."""
        places = self.notes.get_many([_place(name) for name in prompts])
        records = self.notes.get_many({name for name in places.values() if isinstance(name, str)})
        noted = [Noted(**each) for each in records.values() if {*each} == {*Noted.__dataclass_fields__}]
        for each in noted:
            each.id = each.id if is_id(each.id) else ""
        return noted

    def _pin(self, noted: Noted) -> str:
        return f"{_pins_of(self.model)}{noted.name[:8]}"


def count_under_way(pins: Collection[str], models: Iterable[str]) -> Mapping[str, int]:
    """Count the batches under way of each of the models that has some, by the names of a store's pins."""
    counts = {model: sum(name.startswith(_pins_of(model)) for name in pins) for model in models}
    return {model: count for model, count in counts.items() if count}


def _pins_of(model: str) -> str:
    return f"batch of {model}, "


def _place(prompt: str) -> str:
    return key("in batch", prompt)
