"""Runs one study on a Ray cluster of two nodes, with the store on an S3-style server; kills a node in mid-run.

    python speed/ray_nodes.py [--documents 24]

Prints the wall time of one worker, of two (the most that this machine can gain) and of two nodes, whether the tables
are equal, and what a lost node cost. The nodes are processes on this machine with one CPU each; nothing but the
benchmark's files is shared.
"""

import argparse
import logging
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

os.environ |= {"RAY_AUTH_MODE": "disabled", "OMP_THREAD_LIMIT": "1", "OMP_NUM_THREADS": "1"}

from moto.server import ThreadedMotoServer
from ray.cluster_utils import Cluster

from ohr.engine.executors.base import Executor
from ohr.engine.executors.local import Local
from ohr.engine.executors.ray import Ray
from ohr.runner.run import run
from ohr.spec.read import read_spec

SPEC = """\
name: nodes
replicates: 1
limit: {documents}
benchmark: {{kind: mini, languages: [en], max_pages: 1}}
knowledge_bases:
  - {{name: blur, image_noise: {{kind: psf_blur, severity: [0.2, 0.5]}}, ocr: {{kind: tesseract}}}}
chunker: {{kind: tokens, size: 256}}
retrievers: [{{kind: bm25}}]
evaluate: [retrieval]
"""
TABLES = ("scores", "hits", "texts", "pages", "failures")


def study(
    folder: Path, name: str, executor: Executor, store: str, documents: int
) -> tuple[float, dict[str, bytes], int]:
    (folder / "spec.yaml").write_text(SPEC.format(documents=documents))
    spec = read_spec(folder / "spec.yaml")
    began = time.perf_counter()
    finished = run(spec, store=store, runs=folder / name, executor=executor)
    took = time.perf_counter() - began
    tables = {table: (finished.folder / f"{table}.parquet").read_bytes() for table in TABLES}
    return took, tables, len(finished.ledger.failures)


def bucket() -> tuple[ThreadedMotoServer, str]:
    import boto3

    server = ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    os.environ |= {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
    }
    boto3.client("s3").create_bucket(Bucket="ohr")
    return server, "s3://ohr/"


def main() -> int:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # the server lists each request
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=24)
    documents = parser.parse_args().documents
    server, url = bucket()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        one, wanted, _ = study(folder, "one", Local(1), str(folder / "store"), documents)
        pair, _, _ = study(folder, "pair", Local(2), str(folder / "pair-store"), documents)
        print(f"one worker on this machine: {one:.1f} s; two: {_compared(one, pair)}", flush=True)
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        second = cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
        time.sleep(20)  # its own processes are still starting
        disk, near, _ = study(folder, "disk", Ray(cluster.address), str(folder / "shared-store"), documents)
        print(f"two nodes, store on a shared disk: {_compared(one, disk)}; tables equal: {near == wanted}", flush=True)
        two, found, _ = study(folder, "two", Ray(cluster.address), url + "two", documents)
        print(f"two nodes, store on the server: {_compared(one, two)}; tables equal: {found == wanted}", flush=True)
        threading.Timer(two / 3, lambda: cluster.remove_node(second, allow_graceful=False)).start()
        lost, after, failed = study(folder, "lost", Ray(cluster.address), url + "lost", documents)
        print(
            f"one node killed after {two / 3:.1f} s: {lost:.1f} s, {failed} failures; tables equal: {after == wanted}"
        )
        cluster.shutdown()
    server.stop()
    return not (near == found == wanted == after)


def _compared(one: float, took: float) -> str:
    return f"{took:.1f} s, {one / took:.2f} times one worker"


if __name__ == "__main__":
    sys.exit(main())
