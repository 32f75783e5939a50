"""References that a generator is asked beside the knowledge bases, and the other page that it is then shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr import seeds
from ohr.contracts import Document, Page, Question
from ohr.dataset.inputs import Inputs
from ohr.steps.answers.prompts import reference_texts

from .conftest import rows, values


def listed(question, inputs):
    """Draw from the list of all pages of other documents: plain, and quadratic over all questions."""
    others = [d for d in inputs.documents if d.name != question.document and inputs.truth[d.name]]
    near = [document for document in others if document.domain == question.domain] or others
    pages = [page.text for document in near for page in inputs.truth[document.name]]
    return pages[int(seeds.generator(0, "shuffled_context", question.id).integers(len(pages)))] if pages else ""


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3)), max_size=6), st.integers(0, 6), st.sampled_from("abc")
)
def test_the_other_page_is_drawn_as_from_a_list_of_them(sizes, own, domain):
    documents = tuple(Document(f"{number}", of, "en", size) for number, (of, size) in enumerate(sizes))
    truth = {d.name: [Page(d.name, index, f"{d.name} {index}") for index in range(d.pages)] for d in documents}
    inputs = Inputs(None, documents, (), truth, ())
    for number in range(4):
        question = Question(f"q{number}", "?", ("yes",), str(own), (0,), ("it",), "text", domain)
        assert reference_texts("shuffled_context", question, inputs, 0) == (listed(question, inputs),)


@pytest.mark.parametrize("asked", [[], ["evidence_only", "closed_book", "closed_book"]])
def test_only_the_references_of_the_spec_are_asked(home, asked):
    finished = home.run(
        f"""\
benchmark: {{kind: tiny}}
knowledge_bases: [{{name: clean}}]
chunker: {{kind: page}}
retrievers: [{{kind: bm25}}]
generators: [{{kind: parrot}}]
evaluate: [overall]
references: {asked}
""",
        workers=1,
    )
    conditions = {row["kb"] for row in rows(finished, stage="reference")}
    assert conditions == {*asked, "constant"}
    assert len(values(finished, kb="clean", stage="overall", metric="f1")) == 8
