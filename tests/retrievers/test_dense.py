import pytest

from ohr.contracts import Chunk
from ohr.errors import PluginError
from ohr.keys import identity
from ohr.retrievers.dense import Dense


def chunks(*texts):
    return [Chunk(str(place), "d/a", (0,), 0, len(text), text) for place, text in enumerate(texts)]


def test_meaning_is_found_without_a_common_word():
    index = Dense().index(
        chunks("The feline slept on a rug.", "Interest rates were raised.", "Pour milk into the bowl.")
    )
    found = index.search(["Where did the cat nap?", "What did the central bank do?"], 1)
    assert [[hit.place for hit in hits] for hits in found] == [[0], [1]]


def test_scores_are_cosines():
    (hits,) = Dense().index(chunks("rain", "wall")).search(["rain"], 2)
    assert hits[0].score == pytest.approx(1, abs=1e-5)
    assert -1 <= hits[1].score < 1


def test_a_prompt_changes_the_index_and_its_identity():
    assert identity(Dense(passage_prompt="passage: ")) != identity(Dense())


def test_batch_size_and_device_are_in_no_key():
    assert identity(Dense(batch_size=1, device="mps")) == identity(Dense())


def test_a_folder_without_a_model_is_told(tmp_path):
    with pytest.raises(PluginError) as caught:
        Dense(model=str(tmp_path)).check()
    assert str(caught.value) == f"retriever dense: {tmp_path} is not a model's folder (no config.json)"
