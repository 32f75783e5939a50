"""What pyproject.toml cannot say: the commit in wheel and sdist, and a README whose links work on the page of PyPI."""

import re
import tomllib
from pathlib import Path
from runpy import run_path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).parent
COMMIT = run_path(str(ROOT / "ohr" / "commit.py"))
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?!\w+:|#)([^()\s]+)\)")
"""A link or an image of Markdown whose address is relative: sign of an image, text, address."""


def readme_for_pypi(text: str, repository: str, tag: str) -> str:
    """Lead relative links and images into the repository, since PyPI's page has no files beside it.

    Args:
        text: the README.
        repository: address at a hosting site that serves files below `blob` and `raw`; where it is empty, links
            become plain text and images are left out.
        tag: of the release.
    """

    def placed(link: re.Match[str]) -> str:
        image, words, address = link.groups()
        if not repository:
            return "" if image else words
        return f"{image}[{words}]({repository}/{'raw' if image else 'blob'}/{tag}/{address})"

    return LINK.sub(placed, text)


def write_commit(package: Path) -> None:
    """Write the record of the commit into a folder that becomes `ohr`, where the commit is known."""
    if commit := COMMIT["own_commit"]():
        package.mkdir(parents=True, exist_ok=True)
        record = package / COMMIT["RECORD"]
        record.unlink(missing_ok=True)  # it may be a link to the file of a checkout
        record.write_text(f"{commit}\n", encoding="ascii")


class BuildWithCommit(build_py):
    """Adds the record to what a wheel contains; an editable installation asks git instead."""

    def run(self) -> None:
        """Build, then add the record."""
        super().run()
        if not self.editable_mode:
            write_commit(Path(self.build_lib) / "ohr")


class SdistWithCommit(sdist):
    """Adds the record to the tree that becomes the sdist."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        """Copy the files, then add the record."""
        super().make_release_tree(base_dir, files)
        write_commit(Path(base_dir) / "ohr")


def main() -> None:
    """Build what is asked for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    repository = project.get("urls", {}).get("Repository", "")
    setup(
        cmdclass={"build_py": BuildWithCommit, "sdist": SdistWithCommit},
        long_description=readme_for_pypi(readme, repository, f"v{project['version']}"),
        long_description_content_type="text/markdown",
    )


if __name__ == "__main__":
    main()
