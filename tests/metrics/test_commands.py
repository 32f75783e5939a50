r"""Formatting commands are counted by kind, in LaTeX and in Markdown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.metrics.commands import KINDS, formatting_commands, redundant_commands
from ohr.noise.formatting import Formatting


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("plain words, 2 * 3 * 4 and snake_case_names", {}),
        (r"**bold** and \textbf{bold}", {"bold": 2}),
        (r"*italic*, \textit{italic}", {"italic": 2}),
        (r"_under_ \underline{under}", {"underline": 2}),
        ("# One\ntext\n### Three\n\\subsection{x}", {"title": 3}),
        (r"\hline a & b \\ \cline{1-2}", {"line": 2}),
        (r"$a \quad b \; c$", {"space": 2}),
        (r"$\mathbf{x} + \mathcal{L}$", {"symbol": 2}),
        (r"$$x$$ and \[y\] and \(z\)", {"formula": 3}),
        (r"it costs \$5", {}),
    ],
)
def test_commands_are_counted_by_kind(text, found):
    assert dict(formatting_commands(text)) == found


def redundant(text, truth):
    return redundant_commands(formatting_commands(text), formatting_commands(truth))


def test_only_commands_beyond_the_ground_truths_are_redundant():
    assert redundant("# A\n**b** **c**", "# A\n# B") == 2
    assert redundant("", "# A") == 0


@given(st.text())
def test_any_text_is_counted(text):
    assert set(formatting_commands(text)) <= set(KINDS)
    assert redundant(text, text) == 0


def test_formatting_noise_shows_in_the_counts():
    import numpy as np

    text = "The old harbour company leased the ferry berth for ninety years to the council. " * 30
    counts = [
        redundant(
            Formatting.model_validate({"rate": rate, "rules": {"bold": 1}})
            .perturb(text, [(0, len(text))], np.random.default_rng(0))
            .text,
            text,
        )
        for rate in (0.0, 0.1, 0.3, 0.6)
    ]
    assert counts[0] == 0 and counts == sorted(counts) and counts[-1] > 30
