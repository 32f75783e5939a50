"""Times 20 prompts through the engine beside the bare model, and again from the store.

    python speed/generation.py [rounds]

The bare loop does what anybody would write with transformers: chat template, left padding, batches, generate. Both
answer the same prompts with the packaged SmolLM2, in the same batches; rounds alternate, and the median counts.
"""

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from ohr import extras
from ohr.benchmarks.mini import Mini
from ohr.contracts import Passage, Prompt
from ohr.dataset.inputs import read_inputs
from ohr.engine.executors.inline import Inline
from ohr.engine.session import Session
from ohr.generators.gguf import loadable
from ohr.generators.transformers import Transformers
from ohr.graph.graph import Graph
from ohr.keys import key
from ohr.spec.read import read_spec
from ohr.steps.answers.generate import Answer
from ohr.steps.answers.prompt_templates import make_prompt
from ohr.store import Store, open_store
from ohr.work.step import Step

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
STAGE = Transformers(max_tokens=12, batch_size=4)
SPEC = "benchmark: {kind: mini, languages: [en], max_pages: 1}\nknowledge_bases: [{name: ground_truth}]\n"


def prompts(bench: Mini) -> list[Prompt]:
    """Ask about the evidence of 20 questions, in order of length, as the engine does."""
    asked = [q for q in bench.questions() if q.evidence_source == "text"][:20]
    made = [make_prompt(bench, q, [Passage(text) for text in q.evidence], prompt="short") for q in asked]
    return sorted(made, key=lambda prompt: len(prompt.user))


def bare(given: list[Prompt]) -> list[str]:
    """Answer without ohr."""
    import torch

    replies = []
    for start in range(0, len(given), STAGE.batch_size):
        batch = given[start : start + STAGE.batch_size]
        chats = [[{"role": "system", "content": p.system}, {"role": "user", "content": p.user}] for p in batch]
        begun = [TOKENIZER.apply_chat_template(c, tokenize=False, add_generation_prompt=True) for c in chats]
        texts = [f"{text}{prompt.opening}" for text, prompt in zip(begun, batch, strict=True)]
        inputs = TOKENIZER(texts, return_tensors="pt", padding=True, add_special_tokens=False)
        with torch.inference_mode():
            made = MODEL.generate(**inputs, max_new_tokens=12, do_sample=False, pad_token_id=TOKENIZER.pad_token_id)
        replies += TOKENIZER.batch_decode(made[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
    return replies


def ours(given: list[Prompt], store: Store) -> list[str]:
    """Answer through the engine, which keeps every reply."""
    names = tuple(key("speed", prompt.user) for prompt in given)
    work = Answer(STAGE, "model", tuple(given), (), ("speed",) * len(given))
    graph = Graph()
    graph.add(Step(work, names))
    session = Session(INPUTS, store, Inline())
    with session.started(SPECIFIED):
        scheduler = session.scheduler(SPECIFIED)
        scheduler.add(graph, names)
        scheduler.settle(names)
    found = store.get_many(names)
    return [found[name]["text"] for name in names]


def timed(work: Callable[[], list[str]]) -> tuple[float, list[str]]:
    began = perf_counter()
    given = work()
    return perf_counter() - began, given


with tempfile.TemporaryDirectory() as folder:
    library = extras.load("transformers", "llm")

    (Path(folder) / "spec.yaml").write_text(SPEC + "evaluate: [generation]\ngenerators: [{kind: extractive}]\n")
    spec = read_spec(Path(folder) / "spec.yaml")
    SPECIFIED, INPUTS = spec, read_inputs(spec)
    place = loadable(STAGE.model)
    TOKENIZER = library.AutoTokenizer.from_pretrained(place, padding_side="left")
    MODEL = library.AutoModelForCausalLM.from_pretrained(place, dtype="float32").eval()
    asked = prompts(spec.benchmark)
    bare(asked[:4]), list(STAGE.answer(asked[:4]))  # both are warm
    alone, through, again = [], [], []
    for turn in range(ROUNDS):
        store = open_store(Path(folder) / f"store{turn}")
        took, bare_replies = timed(lambda: bare(asked))
        alone.append(took)
        took, our_replies = timed(partial(ours, asked, store))
        through.append(took)
        again.append(timed(partial(ours, asked, store))[0])
        assert bare_replies == our_replies, "the engine's replies differ from the bare model's"
ratio = median(through) / median(alone)
print(
    f"{len(asked)} prompts: bare {median(alone):.2f} s, through the engine {median(through):.2f} s, medians of {ROUNDS}"
)
print(f"ratio {ratio:.3f} (at most 1.05)")
print(f"again, from the store: {median(again):.3f} s (at most 1 s)")
