"""Prompts in batch files: every reply is of its prompt, nothing is sent twice, and what fails says why."""

import json
import logging

import numpy as np
import pytest
from pydantic import ValidationError

from ohr.contracts import Prompt
from ohr.generators.openai import OpenAI, OpenAIVision
from ohr.keys import key

from ..batch_server import desk, error_line, line_of, reply_to

KEY = "sk-very-secret-0123456789"


class Memory:
    """Notes that outlive a generator, as a store does."""

    def __init__(self):
        self.values, self.pins = {}, {}

    def get_many(self, keys):
        return {name: json.loads(self.values[name]) for name in keys if name in self.values}

    def put_many(self, values):
        self.values |= {name: json.dumps(value) for name, value in values.items()}

    def discard(self, keys):
        for name in keys:
            self.values.pop(name, None)

    def pin(self, run, keys):
        self.pins[run] = set(keys)

    def unpin(self, run):
        return len(self.pins.pop(run, ()))


@pytest.fixture
def server():
    with desk() as state:
        yield state


@pytest.fixture
def notes():
    return Memory()


def prompts(count, first=0):
    asked = [Prompt("", (), "Be short.", f"number {number}") for number in range(first, first + count)]
    return {key("answer", prompt.user): prompt for prompt in asked}


def generator(server, **how):
    batch = {"poll_seconds": 0.01, **how.pop("batch", {})}
    return OpenAI(base_url=server.url, model="m", backoff=0.0, retries=0, batch=batch, **how)


def post(server, notes, asked, says=None, **how):
    """Ask until the end; returns the first completion of each prompt."""
    replies = {}
    for group in generator(server, **how).post(asked, notes, lambda *numbers: says is None or says.append(numbers)):
        replies = {**group, **replies}
    return replies


def expected(prompt):
    messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
    return reply_to({"messages": messages})["choices"][0]["message"]["content"]


def errors(replies):
    return {name: completion.error for name, completion in replies.items() if completion.error}


def test_each_prompt_gets_its_reply_in_one_batch(server, notes):
    asked, says = prompts(7), []
    replies = post(server, notes, asked, says)
    assert {name: completion.text for name, completion in replies.items()} == {n: expected(p) for n, p in asked.items()}
    assert {(c.tokens_in, c.tokens_out, c.finish) for c in replies.values()} == {(7, 2, "stop")}
    assert server.sizes() == [7]
    assert server.completions == 0
    assert notes.values == {}
    assert says[0] == (1, 0, 7)
    assert (1, 3, 7) in says
    assert says[-1] == (0, 7, 7)


def test_a_line_is_what_the_chat_api_would_get(server, notes):
    post(server, notes, prompts(1), max_tokens=9, stop=("\n",), body={"top_p": 0.5})
    (line,) = server.requests(server.batches["batch-0"])
    assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
    assert line["custom_id"] == next(iter(prompts(1)))
    assert line["body"] == {
        "model": "m", "max_tokens": 9, "temperature": 0.0, "stop": ["\n"], "top_p": 0.5,
        "messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "number 0"}],
    }  # fmt: skip
    batch = server.batches["batch-0"]
    assert (batch["endpoint"], batch["completion_window"]) == ("/v1/chat/completions", "24h")


def test_files_are_as_large_as_they_may_be(server, notes):
    post(server, notes, prompts(7), batch={"largest_requests": 3})
    assert server.sizes() == [3, 3, 1]
    size = len(server.files["file-0"])
    post(server, notes, prompts(7, 10), batch={"largest_bytes": size + 100})
    assert sum(server.sizes()) == 14
    assert all(len(server.files[batch["input_file_id"]]) <= size + 100 for batch in server.batches.values())


def test_a_prompt_larger_than_a_file_fails_alone(server, notes):
    asked = prompts(3)
    large = key("answer", "large")
    replies = post(server, notes, {**asked, large: Prompt("", (), "", "x" * 5000)}, batch={"largest_bytes": 2000})
    assert errors(replies) == {large: "its request is larger than batch.largest_bytes (2,000)"}
    assert len(replies) == 4


@pytest.mark.parametrize("odd", ["reversed", "byte order mark", "empty lines", "in the error file"])
def test_the_order_and_the_form_of_the_output_do_not_matter(server, notes, odd):
    asked = prompts(5)

    def lines(requests):
        right = [line_of(each) for each in requests]
        marked, spaced = ["\ufeff" + right[0], *right[1:]], ["", *right, "", ""]
        return {"reversed": right[::-1], "byte order mark": marked, "empty lines": spaced}.get(odd, right[:2])

    server.output = lines
    if odd == "in the error file":
        server.errors = lambda requests: [line_of(each) for each in requests[2:]]
    replies = post(server, notes, asked)
    assert {name: completion.text for name, completion in replies.items()} == {n: expected(p) for n, p in asked.items()}


def test_lines_that_are_no_replies_are_counted_and_their_prompts_fail(server, notes, caplog):
    asked = prompts(6)
    names = list(asked)

    def lines(requests):
        first, second, third, *_ = [line_of(each) for each in requests]
        stranger = line_of({**requests[0], "custom_id": "stranger"})
        return [
            first,
            first,
            second,
            third[:40],
            "<html>no</html>",
            "[]",
            '{"custom_id": 5}',
            stranger,
            "x" * (5 << 20),
        ]

    server.output = lines
    with caplog.at_level(logging.WARNING, "ohr"):
        replies = post(server, notes, asked)
    missing = "batch batch-0 has no line for this prompt in its files"
    assert errors(replies) == dict.fromkeys(names[2:], missing)
    assert replies[names[0]].text == expected(asked[names[0]])
    said = "1 line about a prompt for the second time, 3 lines without a reply in JSON, 2 lines about no prompt of the "
    assert caplog.messages == [f"batch batch-0: passed over {said}batch, 1 line of more than 4 MB"]
    assert notes.values == {}  # the next run asks again
    server.output = lambda requests: [line_of(each) for each in requests]
    left = {name: prompt for name, prompt in asked.items() if replies[name].error}
    assert errors(post(server, notes, left)) == {}
    assert server.sizes() == [6, 4]


def test_some_requests_fail(server, notes):
    asked = prompts(4)
    names = list(asked)

    def wrong(requests):
        body = {"error": {"message": f"bad {KEY}", "code": "invalid"}}
        status = json.dumps({"custom_id": names[1], "response": {"status_code": 400, "body": body}, "error": None})
        odd = json.dumps({"custom_id": names[2], "response": {"status_code": 200, "body": {"choices": []}}})
        return [error_line(requests[0], "batch_expired", "was not done in time"), status, odd]

    server.output = lambda requests: [line_of(requests[3])]
    server.errors = wrong
    replies = post(server, notes, asked)
    assert errors(replies) == {
        names[0]: "was not done in time",
        names[1]: f"server answered 400: bad {KEY}",
        names[2]: 'not a chat completion: {"choices": []}',
    }


@pytest.mark.parametrize("ends, why", [
    ("failed", "failed: no such model (and 1 further error)"), ("expired", "expired"), ("cancelled", "was cancelled"),
])  # fmt: skip
def test_a_batch_that_ends_early_keeps_what_it_has(server, notes, ends, why):
    asked = prompts(4)
    server.ends, server.faults = ends, [{"message": "no such model", "line": 1}, {"code": "x"}]
    server.output = lambda requests: [line_of(each) for each in requests[:2]]
    replies = post(server, notes, asked)
    done = 0 if ends == "failed" else 2
    assert errors(replies) == dict.fromkeys(list(asked)[done:], f"batch batch-0 {why}")
    assert notes.values == {}


def test_the_key_is_sent_and_never_comes_back(server, notes, monkeypatch):
    monkeypatch.setenv("TEST_API_KEY", KEY)
    server.errors = lambda requests: [error_line(requests[0], "x", f"the key {KEY} is wrong")]
    server.output = lambda requests: []
    replies = post(server, notes, prompts(1), api_key_env="TEST_API_KEY")
    assert set(errors(replies).values()) == {"the key *** is wrong"}


SENT_ONCE = ["upload", "create", "look", "fetch"]


@pytest.mark.parametrize("at", SENT_ONCE)
def test_a_server_that_fails_at_a_stage_costs_no_second_batch(server, notes, at):
    asked = prompts(3)
    server.refuses = {at: [(500, "oops")]}
    server.looks = 0
    first = post(server, notes, asked)
    replies = post(server, notes, {name: p for name, p in asked.items() if name not in first or first[name].error})
    whole = {**first, **replies}
    assert errors(whole) == {}
    assert server.sizes() == [3]


def test_a_batch_that_was_made_without_a_reply_is_found_in_the_list(server, notes):
    for other in range(5):
        server.create({"input_file_id": "", "metadata": None if other % 2 else {"ohr": "another"}})
    create_one = server.create

    def create(body):
        create_one(body)
        for other in range(3):
            create_one({"input_file_id": "", "metadata": {"ohr": f"later {other}"}})
        return {"error": "the reply was lost"}

    server.create = create
    replies = post(server, notes, prompts(3))
    assert errors(replies) == {}
    assert server.asked.count("create") == 1
    assert server.asked.count("list") == 2


def test_replies_that_came_meanwhile_are_not_asked_again(server, notes):
    asked = prompts(2)
    first, second = asked
    notes.put_many({first: {"text": "there", "tokens_in": 3}})
    replies = post(server, notes, asked)
    assert (replies[first].text, replies[second].text) == ("there", expected(asked[second]))
    assert server.sizes() == [1]


def test_a_page_image_that_cannot_be_made_fails_its_own_prompt(server, notes):
    class Broken(list):
        def __iter__(self):
            raise OSError("no such file")

    model = OpenAIVision(base_url=server.url, model="m", batch={"poll_seconds": 0.01})
    asked = {"a" * 64: Prompt("", (), "", "what?", Broken([1])), "b" * 64: Prompt("", (), "", "why?")}
    replies = {name: each for group in model.post(asked, notes, lambda *_: None) for name, each in group.items()}
    assert errors(replies) == {"a" * 64: "no page image: OSError: no such file"}
    assert server.sizes() == [1]


FURTHER = "; it continues there, and the next run looks again"
ANSWERED = "the batch was not sent: the service answered"


@pytest.mark.parametrize(
    ("refuses", "reason", "sizes"),
    [
        ({"create": [(400, '{"error": "no room"}')]}, f'{ANSWERED} 400: {{"error": "no room"}}', [2]),
        ({"upload": [(404, "<html>not here</html>")]}, f"{ANSWERED} 404: <html>not here</html>", [2]),
        ({"upload": [(405, "<html>not here</html>")]}, f"{ANSWERED} 405: <html>not here</html>", [2]),
        *(
            ({"upload": [(200, says)]}, "the batch was not sent: not what a batch API answers: ", [2])
            for says in ("<html></html>", "[]", "{}", "[" * 100_000)
        ),
        ({"look": [(404, "no such batch")] * 10}, "batch batch-0: the service answered 404: no such batch", [2, 2]),
        ({"look": [(503, "away")] * 20}, f"batch batch-0: the service answered 503: away{FURTHER}", [2]),
        ({"fetch": [(200, "{}")] * 20}, f"batch batch-0: its files lack replies{FURTHER}", [2]),
    ],
)
def test_a_refusal_or_junk_for_long_is_the_reason_and_the_next_run_continues(server, notes, refuses, reason, sizes):
    server.refuses, server.looks = refuses, 0
    (said,) = set(errors(post(server, notes, prompts(2))).values())
    assert said.startswith(reason) and (said == reason or "not what a batch API" in reason)
    assert notes.values == {} or "not sent" not in reason
    server.refuses = {}
    assert errors(post(server, notes, prompts(2))) == {}
    assert server.sizes() == sizes


def test_a_key_that_is_refused_for_long_is_the_reason(server, notes):
    server.refuses = {"look": [(401, "who?")] * 3}
    (reason,) = set(errors(post(server, notes, prompts(2))).values())
    assert reason == f"batch batch-0: the service answered 401: who?{FURTHER}"


@pytest.mark.parametrize(
    "refuses",
    [
        {"look": [(401, "who are you?")] * 2},
        {"look": [(404, "no such batch")] * 9},
        {"look": [(503, "away")] * 9, "fetch": [(500, "oops")]},
    ],
)
def test_a_server_that_refuses_for_a_while_costs_nothing(server, notes, refuses):
    server.refuses = refuses
    assert errors(post(server, notes, prompts(2))) == {}
    assert server.sizes() == [2]


def test_a_batch_gives_replies_to_prompts_that_were_not_asked_again(server, notes):
    asked = prompts(5)
    server.refuses = {"look": [(503, "away")] * 20}
    post(server, notes, asked)
    wanted = dict(list(asked.items())[:2])
    replies = post(server, notes, {**wanted, **prompts(3, 20)})
    assert errors(replies) == {}
    assert set(replies) == {*asked, *prompts(3, 20)}
    assert server.sizes() == [5, 3]


def test_a_batch_that_is_noted_but_has_no_file_is_sent(server, notes):
    asked = prompts(2)
    upload, server.upload = server.upload, lambda content: {"lost": True}
    post(server, notes, asked)
    server.upload = upload
    assert errors(post(server, notes, asked)) == {}
    assert server.sizes() == [2]


def test_notes_of_another_version_are_passed_over(server, notes):
    asked = prompts(1)
    notes.put_many({key("in batch", next(iter(asked))): "a" * 64, "a" * 64: {"odd": 1}})
    assert errors(post(server, notes, asked)) == {}


def test_page_images_are_batched_too(server, notes):
    image = np.zeros((30, 40, 3), np.uint8)
    prompt = Prompt("", (), "", "what is it?", (image,))
    model = OpenAIVision(base_url=server.url, model="m", batch={"poll_seconds": 0.01})
    (replies,) = [each for group in model.post({"a" * 64: prompt}, notes, lambda *_: None) for each in group.values()]
    (line,) = server.requests(server.batches["batch-0"])
    kinds = [part["type"] for part in line["body"]["messages"][0]["content"]]
    assert (kinds, replies.text) == (["image_url", "text"], reply_to(line["body"])["choices"][0]["message"]["content"])


@pytest.mark.parametrize(
    "batch",
    [{"poll": 3}, {"poll_seconds": 0}, {"largest_requests": 0}, "yes", {"window": ""}]
    + [{"poll_seconds": seconds} for seconds in (float("inf"), 1e300, 86_401)],  # longer than a day
)
def test_a_setting_that_is_none_is_refused(batch):
    with pytest.raises(ValidationError):
        OpenAI(base_url="http://localhost/v1", model="m", batch=batch)


def test_the_key_of_a_reply_is_the_same_with_and_without():
    plain, batch = (OpenAI(base_url="http://localhost/v1", model="m", batch=how) for how in (False, True))
    limited = OpenAI(base_url="http://localhost/v1", model="m", requests_per_minute=5, tokens_per_minute=9)
    assert plain.identity() == batch.identity() == limited.identity()
    assert (plain.posts, batch.posts) == (0, 50_000)


@pytest.mark.parametrize("status", [302, 400, 404, 405, 500])
def test_a_batch_of_which_nobody_knows_whether_it_was_sent_is_not_sent_again(server, notes, status):
    create_one = server.create

    def create(body):
        create_one(body)
        return {"error": "the reply was lost"}

    server.create = create
    for _ in range(2):
        server.refuses = {"list": [(status, "no list")]}
        (reason,) = set(errors(post(server, notes, prompts(3))).values())
        assert reason.startswith("nobody knows whether the batch was sent: ")
        assert status < 500 or reason.endswith("the service answered 500: no list; the next run looks for it")
    assert errors(post(server, notes, prompts(3))) == {}
    assert (server.asked.count("create"), server.asked.count("upload")) == (1, 1)


@pytest.mark.parametrize("junk", ["<html>come back later</html>", "", "{}", "[]\n[]"])
@pytest.mark.parametrize("file", ["fetch", "fetch errors"])
def test_a_file_that_is_not_the_batchs_is_fetched_again(server, notes, junk, file):
    server.output = lambda requests: [line_of(each) for each in requests[:2]]
    server.errors = lambda requests: [line_of(each) for each in requests[2:]]
    server.refuses = {file: [(200, junk)]}
    counted = server.look
    server.look = lambda name: {**counted(name), "request_counts": {"completed": 2, "failed": 2}}
    assert errors(post(server, notes, prompts(4))) == {}
    assert notes.values == {} == notes.pins


def test_an_empty_file_of_errors_is_fine_where_no_reply_is_missing(server, notes):
    server.refuses = {"fetch errors": [(200, "")]}
    server.errors = lambda requests: ["nobody reads this"]
    assert errors(post(server, notes, prompts(4))) == {}
    assert server.asked.count("fetch errors") == 1


def look_once(server, odd):
    """Let the server give an odd state before the right ones."""
    right, left = server.look, [odd]
    server.look = lambda name: left.pop() if left else right(name)


ODD = [
    {}, {"status": []}, {"status": {}}, {"status": None}, {"status": "completed"},
    {"status": "completed", "output_file_id": "a\nb"}, {"status": "completed", "output_file_id": {"id": 3}},
    {"status": "expired", "request_counts": {"completed": 1}}, {"status": "failed", "request_counts": {"failed": 2}},
]  # fmt: skip


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_an_odd_state_is_looked_at_again(server, notes, odd):
    look_once(server, odd)
    assert errors(post(server, notes, prompts(3))) == {}
    assert server.sizes() == [3]


@pytest.mark.parametrize("faults", [5, {"data": 5}, {"data": [5]}, [], {"data": {"a": 1}}], ids=str)
def test_odd_reasons_of_a_failed_batch_are_passed_over(server, notes, faults):
    look_once(server, {"status": "failed", "errors": faults})
    assert set(errors(post(server, notes, prompts(2))).values()) == {"batch batch-0 failed"}


@pytest.mark.parametrize("name", ["a\nb", "a b", "a/../?x#", 7, {"a": 1}, "", "x" * 2000], ids=repr)
def test_an_id_that_cannot_be_one_is_never_noted(server, notes, name):
    create_one = server.create
    server.create = lambda body: {**create_one(body), "id": name}
    assert errors(post(server, notes, prompts(2))) == {}  # it is found in the list
    server.create, upload = create_one, server.upload
    server.upload = lambda content: {"id": name}
    (reason,) = set(errors(post(server, notes, prompts(2, 5))).values())
    assert reason.startswith("the batch was not sent: not what a batch API answers: there is no `id` in ")
    server.upload = upload
    assert errors(post(server, notes, prompts(2, 5))) == {}


def test_notes_are_pinned_while_a_batch_is_under_way(server, notes):
    server.refuses = {"look": [(503, "away")] * 20}
    post(server, notes, prompts(2))
    ((run, keys),) = notes.pins.items()
    assert run.startswith("batch of m, ")
    assert keys == notes.values.keys()
    assert len(keys) == 3


def test_answers_that_are_made_again_do_not_come_from_an_old_batch(server, notes, caplog):
    server.refuses = {"look": [(503, "away")] * 20}
    post(server, notes, prompts(2))
    caplog.set_level(logging.WARNING, "ohr")
    caplog.clear()
    groups = generator(server).post(prompts(2), notes, lambda *_: None, again=True)
    assert errors({name: each for group in groups for name, each in group.items()}) == {}
    assert server.sizes() == [2, 2]
    assert notes.values == {} == notes.pins
    assert caplog.messages == ["1 batch of an earlier run is not waited for, as answers are made again"]
