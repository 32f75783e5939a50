"""Executors: where steps run. Results are the same bytes from each of them, whatever the number of workers."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ohr.engine.executors.base import Executor


NAMES = ("local", "ray", "inline")


def make_executor(name: str, workers: int | None = None, address: str | None = None) -> "Executor":
    """Make an executor by its name: `inline`, `local` or `ray`.

    Args:
        workers: processes or actors; by default one per core.
        address: of a running Ray cluster.

    Raises:
        SpecError: an unknown name, or an address for an executor that has none.
    """
    from ohr.errors import SpecError
    from ohr.registry import choices

    if name not in NAMES:
        raise SpecError(f"--executor {name}: {choices(name, NAMES)}")
    if address is not None and name != "ray":
        raise SpecError(f"--address {address}: only --executor ray connects to a cluster")
    if name == "ray":
        from ohr.engine.executors.ray import Ray

        return Ray(address, workers)
    if name == "inline":
        from ohr.engine.executors.inline import Inline

        return Inline()
    from ohr.engine.executors.local import Local

    return Local(workers)
