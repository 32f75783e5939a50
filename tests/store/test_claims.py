"""When an owner counts as dead."""

import os
import subprocess
import sys
from threading import Event

import pytest

from ohr.errors import StoreError
from ohr.store import claims
from ohr.store.claims import SILENCE, Heart, Watch, this_process
from ohr.store.written_values import framed

ELSEWHERE = "another-host 4711 123"


class Clock:
    """Seconds that a test lets pass."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def watch(clock):
    return Watch(clock)


def test_this_process_lives_and_has_the_same_name_each_time(watch):
    assert this_process() == this_process()
    assert watch.lives(this_process(), 0)


def test_a_process_with_the_number_of_a_dead_one_is_another(watch):
    host, pid, start = this_process().rsplit(" ", 2)
    assert not watch.lives(f"{host} {pid} {int(start) - 1}", 0)


def test_a_process_of_this_host_that_ended_is_dead_at_once_even_before_it_is_collected(watch):
    command = [sys.executable, "-c", "from ohr.store.claims import this_process; print(this_process())"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        owner = process.stdout.readline().strip()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # a zombie now
        assert not watch.lives(owner, 0)
    assert not watch.lives(owner, 0)


def test_a_forked_process_is_another_owner():
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, this_process().encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 1000).decode() not in ("", this_process())


def test_an_owner_elsewhere_lives_as_long_as_its_counter_changes(watch, clock):
    for beat in range(5):
        assert watch.lives(ELSEWHERE, beat)
        clock.now += SILENCE - 1
    assert watch.lives(ELSEWHERE, 4)


def test_an_owner_elsewhere_is_dead_when_its_counter_has_not_changed_for_long(watch, clock):
    assert watch.lives(ELSEWHERE, 7)
    clock.now += SILENCE - 1
    assert watch.lives(ELSEWHERE, 7)
    clock.now += 1
    assert not watch.lives(ELSEWHERE, 7)
    assert watch.lives(ELSEWHERE, 8)  # it was only slow


@pytest.mark.parametrize("place", ["local", "memory"], indirect=True)
def test_a_silent_owner_elsewhere_loses_its_claims(place, store, watch, clock):
    store._watch = watch
    store.put("other", 1)
    if place.is_local:
        store._db.write(lambda db: db.execute("INSERT INTO owners VALUES (?, 1)", (ELSEWHERE,)))
        store._db.write(lambda db: db.execute("INSERT INTO claims VALUES ('key1', ?)", (ELSEWHERE,)))
    else:
        store._bucket.write({"claims/x": framed({"owner": ELSEWHERE, "beat": 1, "keys": ["key1"]})})
    assert store.claim(["key1", "key2"]) == {"key2"}
    clock.now += SILENCE
    assert store.claim(["key1"]) == {"key1"}
    store.release(["key1", "key2"])


@pytest.mark.parametrize("place", ["local", "memory"], indirect=True)
def test_a_claim_beats_until_it_is_released(store, monkeypatch):
    monkeypatch.setattr(claims, "BEAT", 0.001)
    beaten, beat = Event(), store._beat
    store._beat = lambda: (beat(), beaten.set())
    store.claim(["key1"])
    thread = store._heart._thread
    assert beaten.wait(20)
    store.release(["key1"])
    thread.join(20)
    assert not thread.is_alive()


def test_a_heart_continues_after_an_error_of_the_store(monkeypatch):
    monkeypatch.setattr(claims, "BEAT", 0.001)
    heart, turns, twice = Heart(), [], Event()

    def beat():
        turns.append(1)
        if turns[1:]:
            twice.set()
        raise StoreError("gone")

    heart.start(beat)
    assert twice.wait(20)
    heart.stop()
