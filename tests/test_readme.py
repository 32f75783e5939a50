"""The README shows of the demo just what the product says of its numbers."""

from speed.readme_from_demo import README, parts, placed, recorded


def test_the_readme_says_what_the_demo_gave():
    text = README.read_text(encoding="utf-8")
    made = parts(recorded())
    assert placed(text, made) == text  # else: python -m speed.readme_from_demo RUN
    assert all(f"<!-- demo: {name} -->\n{part}<!-- end of {name} -->" in text for name, part in made.items())


def test_other_numbers_give_another_readme():
    text = README.read_text(encoding="utf-8")
    assert placed(text, parts(recorded()[:6] + recorded()[7:])) != text
