"""Everything ohr raises on purpose.

OhrError
├── SpecError      the spec (or a command's argument) is wrong; one line per fault
├── PluginError    a plugin is unknown, claimed twice, missing, or breaks its contract
│   ├── MissingExtra   a plugin's library is not installed
│   ├── MissingKey     a server's key is not in the environment
│   └── PromptError    a judge cannot say what it asks
├── DataError      a benchmark's file is missing, damaged or cannot be read
│   └── PermanentError     what a service answers is not what was asked for, and will not be
├── StoreError     the store cannot be read or written
└── StageError     a stage failed on one item

Terminated is the KeyboardInterrupt of a SIGTERM.
"""

from collections.abc import Sequence


class Terminated(KeyboardInterrupt):
    """The process was sent SIGTERM, as by a batch system: all that a Ctrl-C ends, this ends in the same way."""


class OhrError(Exception):
    """A fault that is reported to the user in a sentence, without a traceback."""


class SpecError(OhrError):
    """A spec is wrong; each line of the message is `file:line: key: what, and what would do`."""


class PluginError(OhrError):
    """A plugin is unknown, claimed twice, missing, or breaks its contract."""


class MissingExtra(PluginError, ImportError):
    """A library of an optional extra is not installed; the message has the command that installs it."""


class MissingKey(PluginError):
    """The environment variable that is to hold a server's key is not set; only a run needs it."""


class PromptError(PluginError):
    """A judge raised on making its prompt: without one there is nothing that could be asked again, so the run stops."""


class DataError(OhrError):
    """A benchmark's file is missing, damaged or cannot be read."""


class PermanentError(DataError):
    """An item failed, and another try would fail the same way: it is not tried again."""


class StoreError(OhrError):
    """The store cannot be read or written; the message names its folder or URL and the reason."""


class InputsGone(StoreError):
    """Results that an earlier step wrote are gone; they have to be made again.

    Args:
        keys: of the results.
    """

    def __init__(self, item: str, keys: Sequence[str]) -> None:
        super().__init__(f"{item}: {len(keys)} stored results that it needs are gone; run again")
        self.item, self.keys = item, tuple(keys)

    def __reduce__(self) -> tuple[type["InputsGone"], tuple[str, tuple[str, ...]]]:
        return InputsGone, (self.item, self.keys)


class StageError(OhrError):
    """A stage failed on one item.

    Args:
        stage: what was running, e.g. `ocr tesseract`.
        item: what it was running on, e.g. `law/lease page 3`.
        reason: what went wrong.
    """

    def __init__(self, stage: str, item: str, reason: str) -> None:
        super().__init__(f"{stage} failed on {item}: {reason}")
        self.stage, self.item, self.reason = stage, item, reason

    def __reduce__(self) -> tuple[type["StageError"], tuple[str, str, str]]:
        # exceptions rebuild from args by default, which are the joined message here
        return StageError, (self.stage, self.item, self.reason)
