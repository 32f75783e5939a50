import pytest

from ohr.contracts import Completion, Prompt
from ohr.generators.local_model import ended, fitted, in_batches


class Words:
    """A tokenizer whose tokens are words."""

    def encode(self, text, add_special_tokens):
        return text.split()

    def decode(self, ids, skip_special_tokens=False):
        return " ".join(ids)


def tokens(user):
    return ["<system>", *user.split(), "<assistant>"]


def prompt(*passages, user="Text: {} Question: when?"):
    return Prompt("when?", passages, "", user.format("\n\n".join(passages)))


@pytest.mark.parametrize(
    ("asked", "window", "ids", "cut"),
    [
        (prompt("a b c"), 8, tokens("Text: a b c Question: when?"), False),
        (prompt("a b c", "d e f"), 9, tokens("Text: a b c d Question: when?"), True),
        (prompt(user="one two three four"), 4, tokens("one two"), True),
        (prompt("a b c"), 2, ["when?", "<assistant>"], True),  # smaller than the question
    ],
)
def test_documents_that_do_not_fit_lose_their_end_and_the_question_stays(asked, window, ids, cut):
    assert fitted(asked, window, Words(), tokens) == (ids, cut)


@pytest.mark.parametrize(
    ("text", "stops", "given"),
    [
        ("a\nb", ["\n"], ("a", True)),
        ("ab", ["\n"], ("ab", False)),
        ("a;b.c", [".", ";"], ("a", True)),
        ("", [], ("", False)),
    ],
)
def test_a_reply_ends_before_the_first_stop(text, stops, given):
    assert ended(text, stops) == given


def test_a_batch_too_large_for_memory_is_halved_for_the_rest_of_the_prompts():
    sizes = []

    def run(batch):
        sizes.append(len(batch))
        if len(batch) > 2:
            raise MemoryError
        return [Completion(item) for item in batch]

    assert [done.text for done in in_batches("abcdefg", 6, run)] == list("abcdefg")
    assert sizes == [6, 3, 1, 1, 1, 1, 1, 1, 1]


def test_a_prompt_too_large_by_itself_fails_alone():
    sizes = []

    def run(batch):
        sizes.append(len(batch))
        if "b" in batch:
            raise RuntimeError("CUDA out of memory")
        return [Completion(item) for item in batch]

    given = list(in_batches("bacd", 2, run))
    assert [done.error for done in given] == ["out of memory with a batch of 1", None, None, None]
    assert sizes == [2, 1, 1, 1, 1]


def test_another_fault_is_raised():
    def run(batch):
        raise RuntimeError("shapes differ")

    with pytest.raises(RuntimeError, match="shapes differ"):
        list(in_batches("abc", 2, run))
