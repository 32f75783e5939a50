"""Chinese in texts: finding it, and cutting it into words with jieba."""

import re
import warnings
from collections.abc import Callable
from functools import cache, lru_cache

HAN = "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese characters, as the inside of a regular expression's character class."""

HAS_HAN = re.compile(f"[{HAN}]")
"""Finds a Chinese character."""

HAN_RUN = re.compile(f"([{HAN}]+)")
"""A run of Chinese characters."""

# jieba takes time quadratic in the length of a run without words of its dictionary, as an engine in a loop writes
# them. The longest run in OHRBench's pages has 47 characters.
_LONGEST = 500
_CROWDED = re.compile(f"([{HAN}]{{{_LONGEST}}})(?=[{HAN}])")


def chinese_words(piece: str) -> list[str]:
    """Cut a text without white space into parts that together are all of it: each run of Chinese into its words."""
    found: list[str] = []
    for run in HAN_RUN.split(piece):
        found += _chinese_run(run) if HAN_RUN.match(run) else [run] * bool(run)
    return found


@lru_cache(maxsize=1 << 15)
def _chinese_run(run: str) -> tuple[str, ...]:
    """Cut a run; cached, since every rate, seed and comparison meets the same pages again."""
    return tuple(chinese_cutter()(run))


@cache
def chinese_cutter() -> Callable[[str], list[str]]:
    """Return jieba's cutter with its own dictionary; white space is among the words, and long runs are divided."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba's own escapes and pkg_resources
        import jieba
    jieba.setLogLevel("ERROR")
    cutter = jieba.Tokenizer()
    # what initialize() does, less the cache file that it would share with everyone in the temporary folder
    cutter.FREQ, cutter.total = cutter.gen_pfdict(cutter.get_dict_file())
    cutter.initialized = True

    def cut(text: str) -> list[str]:
        if len(text) <= _LONGEST:
            return list(cutter.lcut(text))
        return [word for part in _CROWDED.split(text) if part for word in cutter.lcut(part)]

    return cut
