"""ohr measures how OCR noise travels through retrieval-augmented generation.

spec = ohr.read_spec("study.yaml")
print(ohr.plan(spec).steps)
finished = ohr.run(spec)
loaded = ohr.load_run(finished.folder)
scores, figure = loaded.frame("scores"), loaded.plot.performance()
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ohr.report.loaded_run import load_run
    from ohr.runner.plan import plan
    from ohr.runner.run import run
    from ohr.spec.read import read_spec

__version__ = "0.1.0"
__all__ = ["__version__", "load_run", "plan", "read_spec", "run"]

_PLACES = {
    "load_run": "ohr.report.loaded_run",
    "plan": "ohr.runner.plan",
    "read_spec": "ohr.spec.read",
    "run": "ohr.runner.run",
}
"""Where the public functions are; they are imported when they are used, so that `import ohr` costs nothing."""


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'ohr' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_PLACES[name]), name)
