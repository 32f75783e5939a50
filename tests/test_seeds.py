import numpy as np

from ohr.seeds import generator


def test_one_name_gives_one_draw():
    assert generator(1, "rotation", "law/lease", 3).random() == generator(1, "rotation", "law/lease", 3).random()


def test_each_part_of_the_name_changes_the_draw():
    draws = {
        generator(*name).random()
        for name in [(0, "a", 1), (1, "a", 1), (0, "b", 1), (0, "a", 2), (0, "a1"), (0, "a", "1", "")]
    }
    assert len(draws) == 6


def test_the_stream_of_numbers_is_fixed_for_ever():
    assert np.round(generator(0, "rotation", "law/lease", 0).random(2), 6).tolist() == [0.778952, 0.300975]
