"""Prompt tokens that `ohr plan` estimates before a run, beside those that the run sends, by who is asked.

    python speed/plan_tokens.py [--only NAME]

A local server of the chat API answers, and counts as OpenAI's do: the text in cl100k_base, 3 tokens for each message, 1
for its role, 3 for the beginning of the reply. With OHRBENCH_DATA a study on real data is added. Ends with status 1
where an estimate is more than 15% off.
"""

import argparse
import json
import os
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from ohr.engine.executors.inline import Inline
from ohr.results.run import Run
from ohr.runner.plan import plan
from ohr.runner.run import run
from ohr.spec.read import make_spec
from ohr.text.tokens import count_tokens

LIMIT = 0.15
JUDGES = ("correctness", "faithfulness")
WORDS = 12
"""Words of a reply: some from the end of the prompt, where the question is."""


class Server(BaseHTTPRequestHandler):
    """Replies with the last words of the user's message; a judge's prompt gets a grade."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        messages = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"]
        asked = messages[-1]["content"]
        text = "Score: 1" if "Score:" in asked else " ".join(asked.split()[-WORDS:])
        prompt = 3 + sum(4 + count_tokens(message["content"]) for message in messages)
        usage = {"prompt_tokens": prompt, "completion_tokens": count_tokens(text)}
        choice = {"message": {"content": text}, "finish_reason": "stop"}
        body = json.dumps({"choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def studies(url):
    model = {"kind": "openai", "base_url": url, "model": "local", "max_tokens": 64, "concurrency": 2}
    mini = {"kind": "mini", "languages": ["en"], "domains": ["law", "finance"], "max_pages": 1}
    clean, formatting = {"name": "clean"}, {"name": "noisy", "text_noise": {"kind": "formatting", "rate": 0.6}}
    scan = {"name": "scan", "image_noise": {"kind": "defocus", "severity": 0.5}, "ocr": {"kind": "tesseract"}}
    channel = {"name": "channel", "text_noise": {"kind": "channel", "rate": 0.6}}
    usual = {"replicates": 1, "benchmark": mini, "evaluate": ["generation", "overall"], "generators": [model]}
    found = {
        "overlap": {
            **usual,
            "knowledge_bases": [clean, formatting],
            "chunker": {"kind": "tokens", "size": 96, "overlap": 32},
            "retrievers": [{"kind": "bm25", "top_k": 5}],
        },
        "judges": {
            **usual,
            "knowledge_bases": [clean],
            "chunker": {"kind": "tokens", "size": 200},
            "retrievers": [{"kind": "bm25", "top_k": 3}],
            "metrics": [{"kind": "judge", "name": name, "prompt": name, "generator": model} for name in JUDGES],
        },
        "noise": {
            **usual,
            "knowledge_bases": [clean, scan, channel],
            "chunker": {"kind": "page"},
            "retrievers": [{"kind": "bm25", "top_k": 2}],
        },
        "rules": {
            **usual,
            "generators": [{"kind": "extractive"}],
            "knowledge_bases": [clean, formatting],
            "retrievers": [{"kind": "bm25", "top_k": 5}],
        },
    }
    if root := os.environ.get("OHRBENCH_DATA"):
        benchmark = {"kind": "ohrbench", "root": root, "domains": ["law"]}
        found["ohrbench"] = {**found["rules"], "generators": [model], "benchmark": benchmark, "sample": 100}
    return found


def tokens(name, keys, folder):
    """Return the estimated and the sent tokens, by who is asked."""
    spec = make_spec({"name": name, **keys}, name)
    planned = {cost.name: cost.all.tokens_in for cost in plan(spec, folder / "store").costs if cost.all.tokens_in}
    done = run(spec, store=folder / "store", runs=folder / "runs", executor=Inline())
    sent = {row["name"]: row["tokens_in"] for row in Run(done.folder).manifest["usage"] if row["tokens_in"]}
    return {who: (planned.get(who, 0), sent[who]) for who in sent}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAME", help="one study")
    only, off = parser.parse_args().only, []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"{'study':10} {'who':12} {'estimated':>10} {'sent':>10} ratio")
    for name, keys in studies(f"http://127.0.0.1:{server.server_port}/v1").items():
        if only in (None, name):
            with tempfile.TemporaryDirectory() as folder:
                for who, (estimated, sent) in tokens(name, keys, Path(folder)).items():
                    print(f"{name:10} {who:12} {estimated:10,} {sent:10,} {estimated / sent:5.2f}", flush=True)
                    off += [who] if abs(estimated / sent - 1) > LIMIT else []
    server.shutdown()
    sys.exit(1 if off else 0)


if __name__ == "__main__":
    main()
