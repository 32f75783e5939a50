from dataclasses import dataclass
from pathlib import Path
from shutil import copy

import pytest

import ohr.benchmarks.mini as mini
from ohr.builder.build_set import build
from ohr.builder.build_settings import Job, read_settings
from ohr.engine.executors.inline import Inline
from ohr.engine.progress import Quiet

PLUGIN = Path(__file__).with_name("quizmaster.py")
PDFS = Path(mini.__file__).parent / "data" / "pdfs"
SPEC = """\
plugins: [{plugin}]
writer: {{kind: quizmaster, log: {log}}}
questions: {{total: 12, multi_page: 0, reasoning: 0, per_prompt: 2}}
"""


@dataclass
class Workplace:
    """A folder with documents, a build's file, a store and the set."""

    folder: Path

    @property
    def docs(self) -> Path:
        return self.folder / "docs"

    @property
    def out(self) -> Path:
        return self.folder / "set"

    @property
    def spec(self) -> Path:
        return self.folder / "build.yaml"

    @property
    def asked(self) -> list[str]:
        """The prompts that were asked, in order."""
        log = self.folder / "asked"
        return log.read_text().splitlines() if log.exists() else []

    def add(self, *names: str) -> None:
        self.docs.mkdir(exist_ok=True)
        for name in names:
            copy(PDFS / f"{name}.pdf", self.docs)

    def write(self, more: str = "") -> None:
        self.spec.write_text(SPEC.format(plugin=PLUGIN, log=self.folder / "asked") + more)

    def settings(self, *overrides: str):
        return read_settings(self.spec, overrides, trust_plugins=True)

    def job(self, *overrides: str, imported: Path | None = None) -> Job:
        return Job(self.settings(*overrides), self.docs, self.out, imported)

    def build(self, *overrides: str, imported: Path | None = None):
        return build(
            self.job(*overrides, imported=imported), store=self.folder / "store", executor=Inline(), progress=Quiet()
        )


@pytest.fixture
def place(tmp_path) -> Workplace:
    made = Workplace(tmp_path)
    made.add("newspaper/drumlow_lantern", "finance/timber_annual_report")
    made.write()
    return made
