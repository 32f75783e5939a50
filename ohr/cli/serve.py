"""`ohr serve`: a finished run's pipeline, for a team's own chat or app."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ohr.cli.display.console import report, say
from ohr.cli.options import RUNS, AllowEnv, RunsFolder, Trust
from ohr.cli.show import RunPlace

if TYPE_CHECKING:
    from ohr.serving.pipeline import Pipeline

PORT = 8572

Condition = Annotated[
    str, typer.Option(metavar="NAME", help="Whose documents are searched: a condition, or one draw of it, NAME#1.")
]
Retriever = Annotated[str | None, typer.Option(metavar="NAME", help="Which retriever, where the run has several.")]
Chunker = Annotated[str | None, typer.Option(metavar="NAME", help="Which chunker, where the run has several.")]
Generator = Annotated[str | None, typer.Option(metavar="NAME", help="Which generator, where the run has several.")]
Host = Annotated[str, typer.Option(metavar="ADDRESS", help="Address of this machine; any but its own needs --token.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port on this machine; 0 takes a free one.")]
Token = Annotated[
    str | None,
    typer.Option(metavar="VARIABLE", help="Environment variable with the bearer token that every request must have."),
]
CorsOrigins = Annotated[
    list[str] | None,
    typer.Option(
        "--cors-origin",
        metavar="ORIGIN",
        help="Origin whose pages may ask, as https://chat.example; repeat it for more.",
    ),
]
RunStore = Annotated[
    str | None, typer.Option("--store", metavar="DIR", help="Where the run's steps are kept; as the run says.")
]


def serve(
    run: RunPlace,
    condition: Condition = "",
    retriever: Retriever = None,
    chunker: Chunker = None,
    generator: Generator = None,
    host: Host = "127.0.0.1",
    port: Port = PORT,
    token: Token = None,
    cors_origin: CorsOrigins = None,
    trust_plugins: Trust = False,
    allow_env: AllowEnv = None,
    store: RunStore = None,
    runs: RunsFolder = RUNS,
) -> None:
    """Answer your own chat or app from a finished run.

    The documents are those of one condition. POST /retrieval is the external knowledge API of Dify, and POST
    /v1/chat/completions a chat API with the run's prompt and generator.
    """
    from ohr.cli.runs import open_run
    from ohr.files.digests import remembered
    from ohr.models.resident import holding
    from ohr.results.folder.run_folder import MANIFEST
    from ohr.serving.pipeline import Pipeline, with_one_pipeline
    from ohr.spec.read import RecordedSpec
    from ohr.store import open_store

    about = {"token": _secret(token, host), "origins": _origins(cors_origin or (), token)}
    opened = open_run(run, runs)
    path, allowed = opened.folder / MANIFEST, allow_env or ()
    recorded = RecordedSpec(opened.manifest, path, trust_plugins=trust_plugins, allow_env=allowed)
    names = {"retriever": retriever, "chunker": chunker, "generator": generator}
    spec = with_one_pipeline(recorded.of_condition(condition), names)
    place = store or opened.store
    with holding():
        with remembered(Path(place)):
            spec.benchmark.check()
            pipeline = Pipeline(spec, open_store(place))
        _serve(pipeline, about, host, port)


def _serve(pipeline: "Pipeline", about: dict[str, Any], host: str, port: int) -> None:
    from ohr.serving.api import Api
    from ohr.serving.http import open_server, serve_until_interrupted

    server = open_server(type("RunApi", (Api,), {"pipeline": pipeline, **about}), port, host)
    address = f"http://{host}:{server.server_port}"
    say(f"{address}/retrieval")
    if pipeline.generator:
        say(f"{address}/v1/chat/completions")
    report(f"knowledge_id or model: {', '.join(pipeline.names[:20])}. Press Ctrl-C to end.")
    serve_until_interrupted(server)


def _secret(variable: str | None, host: str) -> str | None:
    """Return the token that requests must have; no message repeats a word of the option, which may be the token."""
    from ohr.serving.http import LOOPBACK

    if variable is None:
        if host not in LOOPBACK:
            raise typer.BadParameter(
                "--host opens the server to other machines: add --token VARIABLE, the environment variable with the "
                "token that requests must have"
            )
        return None
    token = os.environ.get(variable, "").strip()
    if not token:
        raise typer.BadParameter("--token names an environment variable with the token, and none of that name is set")
    return token


def _origins(given: Sequence[str], token: str | None) -> tuple[str, ...]:
    """Return the origins whose pages may ask; without a token, `*` would show the documents to every page."""
    for origin in given:
        if origin == "*" and token is None:
            raise typer.BadParameter(
                "--cors-origin '*' lets every page in a browser read the documents: name origins, or add --token"
            )
        if origin != "*" and not re.fullmatch(r"https?://[^\s/?#@*]+", origin):
            raise typer.BadParameter(
                f"--cors-origin {origin}: an origin is a scheme, a host and maybe a port, as https://chat.example:8443"
            )
    return tuple(origin.lower() for origin in given)
