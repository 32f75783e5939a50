"""Tables of a user's questions: the names of their columns, and the rows that `ohr init` writes into them."""

from typing import Any

QUESTION = ("question", "questions", "query", "question_text")
"""Names of the column of questions."""
DOCUMENT = (
    "document", "file", "file_name", "pdf", "doc", "filename", "documents",
    "document_name", "doc_name", "pdf_file", "pdf_name", "source_file",
)  # fmt: skip
"""Names of the column that says which document a question is about; messages list the first five."""

TEMPLATE = "Replace this by a question about {name}, and fill in its answer and its page"
"""The text in the place of a question of the document `name`."""


def is_template(question: Any) -> bool:
    """Report whether a question is still the text that `ohr init` wrote in its place."""
    return isinstance(question, str) and question.strip().startswith(TEMPLATE.partition("{")[0])
