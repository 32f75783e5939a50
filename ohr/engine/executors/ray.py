"""The Ray executor: workers are actors on an existing cluster, or on a local one."""

import pickle
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from queue import SimpleQueue
from tempfile import mkdtemp
from threading import Thread
from time import monotonic
from typing import Any

from ohr import extras
from ohr.engine.executors.base import AHEAD, NodeLost, WorkerLost
from ohr.engine.worker import Setup
from ohr.errors import SpecError, StoreError
from ohr.keys import key
from ohr.store.folders import Folders, user_cache

_CONNECT = 30.0
"""Seconds after which a cluster that does not answer is given up."""


class Ray:
    """Runs calls in actors, one call at a time in each; an actor that is lost costs its call only, and is replaced.

    No disk is shared: the store is reached by its URL, and plugin files travel with the setup. A benchmark's own files
    must be readable on every node.

    Args:
        address: of the cluster, such as `auto` or `ray://host:10001`; None starts a local one.
        workers: actors that read and compute; by default one per CPU of the cluster.
    """

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        self.address, self.workers = address, workers
        self._setup = Setup()
        self._ray: Any = None
        self._given: Any = None
        self._idle: dict[bool, SimpleQueue[Any]] = {False: SimpleQueue(), True: SimpleQueue()}
        self._actors: dict[bool, list[Any]] = {False: [], True: []}
        self._threads = ThreadPoolExecutor(256, "ray")

    def start(self, setup: Setup) -> None:
        """Connect to the cluster.

        Raises:
            MissingExtra: ray is not installed.
            SpecError: the cluster does not answer.
        """
        self._ray = extras.load("ray", "cluster")
        self._setup = setup
        handler = signal.getsignal(signal.SIGTERM)
        self._connect()
        with suppress(ValueError):  # in a thread, where Ray does not take the signal for itself
            signal.signal(signal.SIGTERM, handler)
        plugins = [(path.name, path.read_bytes()) for path in setup.plugin_files]
        self._given = self._ray.put((plugins, pickle.dumps(setup)))
        cpus = int(self._ray.cluster_resources().get("CPU", 1))
        for _ in range(self.workers or cpus):
            self._add(alone=False)

    def _connect(self) -> None:
        if self._ray.is_initialized():
            return
        quiet = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
        if self.address is None:
            self._ray.init("local", num_cpus=self.workers, include_dashboard=False, **quiet)
            return
        failed: list[Exception] = []

        def connect() -> None:
            try:
                self._ray.init(address=self.address, **quiet)
            except Exception as error:
                failed.append(error)

        # a daemon, since Python waits at its end for the threads of an executor, and this one may never return
        waiting = Thread(target=connect, daemon=True)
        waiting.start()
        waiting.join(_CONNECT)
        if waiting.is_alive() or failed:
            why = f"{failed[0]}".splitlines()[0] if failed else f"no answer in {_CONNECT:g} seconds"
            raise SpecError(f"--address {self.address}: cannot connect to the Ray cluster: {why}")

    def capacity(self, *, alone: bool) -> int:
        """Return how many calls are worth having under way, though some actors may wait for room on the cluster."""
        if alone and not self._actors[True]:
            self._add(alone=True)
        return len(self._actors[alone]) * (1 if alone else AHEAD)

    def submit(
        self,
        call: Callable[[Any], Any],
        given: Any,
        *,
        alone: bool = False,
        seconds: float | None,  # noqa: ARG002 # the actor keeps its own limit
    ) -> Future[Any]:
        """Start a call as soon as an actor is idle."""
        return self._threads.submit(self._run, call, given, alone)

    def _run(self, call: Callable[[Any], Any], given: Any, alone: bool) -> Any:
        actor = self._idle[alone].get()
        if actor is None:  # the executor has stopped
            self._idle[alone].put(None)
            raise WorkerLost("the executor has stopped")
        began = monotonic()
        try:
            result = self._ray.get(actor.run.remote(call, given))
        except self._ray.exceptions.RayActorError as error:
            self._lose(actor, alone)
            raise self._why(error, monotonic() - began) from None
        except self._ray.exceptions.RayTaskError as error:
            self._idle[alone].put(actor)
            raise error.cause if isinstance(error.cause, Exception) else WorkerLost(str(error)) from None
        self._idle[alone].put(actor)
        return result

    def _why(self, error: Any, seconds: float) -> WorkerLost:
        dead = {node["NodeID"] for node in self._ray.nodes() if not node["Alive"]}
        text = str(error)
        if "node" in text.lower() and (any(name in text for name in dead) or "node has died" in text.lower()):
            return NodeLost("the node died")
        if self._setup.seconds and seconds >= self._setup.seconds:
            return WorkerLost(f"took longer than {self._setup.seconds:g} seconds (limits.seconds)")
        return WorkerLost("the worker process died")

    def _add(self, *, alone: bool) -> None:
        options: dict[str, Any] = {"max_restarts": 0, "max_concurrency": 1}
        if alone:
            gpus = self._ray.cluster_resources().get("GPU", 0)
            options |= {"num_cpus": 0, "num_gpus": 1 if gpus else 0}
        else:
            options |= {"num_cpus": 1, "scheduling_strategy": "SPREAD"}
        actor = self._ray.remote(_Actor).options(**options).remote(self._given)
        self._actors[alone].append(actor)
        self._threads.submit(self._await, actor, alone)

    def _await(self, actor: Any, alone: bool) -> None:
        """Offer an actor once it has started: on a cluster that lost a node it may never have room."""
        with suppress(self._ray.exceptions.RayError):  # the first call reports why an actor cannot start
            self._ray.get(actor.started.remote())
        self._idle[alone].put(actor)

    def _lose(self, actor: Any, alone: bool) -> None:
        """Replace an actor, unless the cluster has no room left for another."""
        self._actors[alone].remove(actor)
        cpus = int(self._ray.cluster_resources().get("CPU", 0))
        if alone or not self._actors[alone] or len(self._actors[alone]) < min(cpus, self.workers or cpus):
            self._add(alone=alone)

    def stop(self) -> None:
        """End the actors; a local cluster ends too."""
        if self._ray is None:
            return
        for actors in self._actors.values():
            for actor in actors:
                self._ray.kill(actor)
        self._actors = {False: [], True: []}
        for idle in self._idle.values():
            idle.put(None)
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._ray.shutdown()


class _Actor:
    """A worker on a node of the cluster."""

    def __init__(self, given: tuple[Sequence[tuple[str, bytes]], bytes]) -> None:
        from dataclasses import replace

        from ohr.engine import worker
        from ohr.registry import load_file

        plugins, setup = given
        files = _on_this_node(plugins)
        for path in files:
            load_file(path)
        worker.prepare(replace(pickle.loads(setup), plugin_files=files))  # from the driver

    def started(self) -> None:
        """Return when the actor has started."""

    def run(self, call: Callable[[Any], Any], given: Any) -> Any:
        """Run a call."""
        return call(given)


def _on_this_node(plugins: Sequence[tuple[str, bytes]]) -> tuple[Path, ...]:
    """Write plugin files side by side into the node's cache, where later runs find them again."""
    names: list[str] = []
    for place, (name, _) in enumerate(plugins):  # equal names in different folders
        names.append(f"{place}/{name}" if name in names else name)

    def write(folder: Path) -> None:
        for name, (_, source) in zip(names, plugins, strict=True):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(source)

    digests = [sha256(source).hexdigest() for _, source in plugins]
    try:
        folder = Folders(user_cache() / "plugins", "plugins").keep(key("plugins", names, digests), write)
    except StoreError:  # a node whose home cannot be written
        folder = Path(mkdtemp(prefix="ohr-plugins-"))
        write(folder)
    return tuple(folder / name for name in names)
