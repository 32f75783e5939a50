"""A model that writes questions and answers them as prompts ask, by rules; it notes what it was asked."""

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from time import sleep
from typing import Annotated, Literal

from pydantic import Field

from ohr.contracts import Completion, Generator, Prompt, execution

_SENTENCE = re.compile(r"[A-Z][^.!?|\n$<>{}\\]*?\b(\d[\d,]*)\b[^.!?|\n$<>{}\\]*\.")
_QUESTION = re.compile(r"Question: (?:Which number belongs to: )?(.*)")


class Quizmaster(Generator):
    """Writes a question for a sentence with a number, and answers with the number that its evidence has there."""

    kind: Literal["quizmaster"] = "quizmaster"
    log: Annotated[Path | None, execution("Where each prompt is noted, as a hash.")] = None
    seconds: Annotated[float, execution("How long a reply takes.")] = 0.0
    knows: Annotated[bool, Field(description="Answers without documents, too.")] = False
    says: Annotated[str, Field(description="Its reply to everything; by default what is asked for.")] = ""
    fails: Annotated[str, Field(description="Why it fails, where it does.")] = ""
    temperature: float = 0.0

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Reply, one after the other."""
        for prompt in prompts:
            if self.log:
                with self.log.open("ab", buffering=0) as opened:
                    digest = sha256(f"{prompt.system}{prompt.user}{prompt.attempt}".encode()).hexdigest()
                    opened.write(f"{digest[:16]} {prompt.system[:20]}\n".encode())
            sleep(self.seconds)
            if self.fails:
                yield Completion("", finish="error", error=self.fails)
                continue
            yield Completion(self.says or self._reply(prompt), len(prompt.user) // 4, 20)

    def _reply(self, prompt: Prompt) -> str:
        if prompt.system.startswith("You write test questions"):
            return self._written(prompt.passages[0]) if prompt.passages else "[]"
        if prompt.system.startswith("You find what questions are about"):
            return " ".join(prompt.question.split()[4:])
        if prompt.system.startswith("You sort questions"):
            return "understanding"
        questions = _QUESTION.findall(prompt.user)
        asked = questions[-1].rstrip("?") if questions else ""
        passages = " ".join(" ".join(prompt.passages).split())
        for match in _SENTENCE.finditer(passages):
            if _blank(match) == asked:
                return match[1]
        return "42" if self.knows else "unknown"

    def _written(self, passage: str) -> str:
        found = [(match[0], _blank(match), match[1]) for match in _SENTENCE.finditer(passage)]
        asked = [
            f'{{"evidence": "{sentence}", "question": "Which number belongs to: {blank}?", "answer": "{number}", '
            '"answer_form": "Numeric"}'
            for sentence, blank, number in found[:2]
            if '"' not in sentence
        ]
        return f"[{', '.join(asked)}]"


def _blank(match: re.Match[str]) -> str:
    """Return a sentence with a gap in place of its number."""
    return " ".join(match[0].replace(match[1], "...", 1).rstrip(".").split())
