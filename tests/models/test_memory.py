import pytest

from ohr.models.resident import batch_note, fitting, parts

FULL = [
    MemoryError(),
    RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    RuntimeError("[enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory"),
]


@pytest.mark.parametrize("error", FULL)
def test_a_batch_is_halved_until_it_fits(error, caplog):
    sizes = []

    def run(size):
        sizes.append(size)
        if size > 2:
            raise error
        return "done"

    assert fitting(run, 12) == ("done", 1)
    assert sizes == [12, 6, 3, 1]
    assert caplog.messages == [
        "out of memory with a batch of 12: continuing with 6",
        "out of memory with a batch of 6: continuing with 3",
        "out of memory with a batch of 3: continuing with 1",
    ]


def test_memory_is_freed_before_the_smaller_batch_is_tried():
    from weakref import ref

    import torch

    held = []

    def run(size):
        if held:
            assert held[0]() is None  # the tensor of the batch that failed
            return size
        tensor = torch.zeros(8)
        held.append(ref(tensor))
        raise RuntimeError("out of memory")

    assert fitting(run, 2) == (1, 1)


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ("CUDA out of memory", MemoryError, "out of memory with a batch of 1"),
        ("shapes differ", RuntimeError, "shapes differ"),
    ],
)
def test_one_that_does_not_fit_alone_and_another_fault_are_raised(fault, kind, words):
    def run(size):
        raise RuntimeError(fault)

    with pytest.raises(kind, match=f"^{words}$"):
        fitting(run, 4)


def test_only_a_batch_that_shrank_is_noted():
    assert batch_note(8, 8) == ()
    assert batch_note(8, 2) == ("a batch of 8 did not fit into memory: 2 was used",)


def test_parts_cover_all_in_order():
    assert parts("abcde", 2) == ["ab", "cd", "e"]
    assert parts("", 2) == []
