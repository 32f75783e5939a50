"""The plugins of a run, made again from its manifest."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from ohr.contracts import Benchmark, ImageNoise
from ohr.errors import SpecError
from ohr.registry import Registry
from ohr.spec.build import Builder
from ohr.spec.source import Source


class RecordedSpec:
    """A spec as a manifest has it, from which single plugins are made.

    Args:
        manifest: of a run.
        path: of the manifest: relative paths in it start at its folder.
        trust_plugins: run the plugin files that the spec names.
    """

    def __init__(self, manifest: Mapping[str, Any], path: Path, *, trust_plugins: bool = False) -> None:
        self._spec, self._path, self._trusted = manifest["spec"], path, trust_plugins
        self._bases = {base["condition"]: base for base in reversed(self._spec.get("knowledge_bases") or [])}

    @cached_property
    def benchmark(self) -> Benchmark:
        """The benchmark.

        Raises:
            SpecError: its keys are wrong here: an environment variable is not set, or its plugin is missing.
        """
        made: Benchmark = self._builder.alone("benchmark", self._spec["benchmark"])
        return made

    def image_noise(self, condition: str) -> tuple[ImageNoise, ...]:
        """Return the image noises of a condition, in the order in which they act.

        Raises: as `benchmark`.
        """
        return tuple(
            self._builder.alone("image_noise", keys) for keys in self._base(condition).get("image_noise") or ()
        )

    def seed(self, condition: str) -> int:
        """Return the seed of a condition's first draw."""
        return int(self._spec["seed"]) + int(self._base(condition).get("replicate") or 0)

    def _base(self, condition: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._bases.get(condition, {})
        return found

    @property
    def _builder(self) -> Builder:
        files = tuple((self._path.parent / name).resolve() for name in self._spec.get("plugins") or ())
        if files and not self._trusted:
            raise SpecError("its spec runs code of its own, which needs --trust-plugins")
        if gone := [file for file in files if not file.is_file()]:
            raise SpecError(f"{gone[0]}: no such plugin file")
        return Builder(
            Source(dict(self._spec), str(self._path), {(): (str(self._path), 0)}), Registry(files, bool(files))
        )
