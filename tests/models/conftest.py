import gc

import pytest


@pytest.fixture(autouse=True, scope="module")
def only_what_tests_make_is_collected() -> None:
    """Keep the garbage collector, which each test here calls, from walking over what was there before."""
    gc.collect()
    gc.freeze()
