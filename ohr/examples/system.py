"""Answers from the paragraph that shares the most words with the question."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from ohr.contracts import Context, System, SystemReply
from ohr.contracts.system import Handed
from ohr.text.words import words


class Example(System, kind="example"):
    """Ranks paragraphs by how many different words of the question they hold, and answers with the best."""

    documents: Annotated[Handed, Field(description="How documents are handed over.")] = "text"
    shortest: Annotated[int, Field(gt=0, description="Words with fewer letters are ignored.")] = 3

    def ingest(self, folder: Path, name: str) -> Any:
        """Return the paragraphs of all files: ohr keeps them as JSON. A service keeps them itself, under the name."""
        paragraphs = [
            (file.name, text)
            for file in sorted(folder.iterdir())
            for text in file.read_text(encoding="utf-8").split("\n\n")
        ]
        return {"condition": name, "paragraphs": paragraphs}

    def ask(self, question: str, handle: Any) -> SystemReply:
        """Return the best paragraphs, and the first of them as the answer; several threads ask at once."""
        asked = {word for word in words(question) if len(word) >= self.shortest}
        contexts = [
            Context(text, document, score=float(shared))
            for document, text in handle["paragraphs"]
            if (shared := len(asked.intersection(words(text))))
        ]
        best = sorted(contexts, key=lambda context: -(context.score or 0))[: self.top_k]
        return SystemReply(best[0].text if best else "", best)
