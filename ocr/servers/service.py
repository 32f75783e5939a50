"""Document services: a page or document is sent, the result is waited for and read."""

import os
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter, sleep
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr import extras
from ohr.contracts import Block, DocumentView, Image, OcrFormat, Recognition, Server, execution
from ohr.errors import PluginError
from ohr.files import pdf
from ohr.messages.secrets import without_key
from ohr.models.chat_server import check_key, key_header, key_of
from ohr.models.reach import CONNECT, lost
from ohr.models.tries import Backoff, Failure, Retries, Tries, retry_after

from ..formats.azure import Azure
from ..formats.choice import reader_identity
from ..formats.docling import Docling
from ..formats.mistral import Mistral
from ..formats.paddleocr import PaddleOcr
from ..formats.values import Unreadable
from ..structured import StructuredOcr, of_view
from .pictures import encoded

_POLL = 0.5
"""Seconds between two looks at a result, where the service does not say how long to wait."""


@dataclass(frozen=True, slots=True)
class Call:
    """One way of asking a service.

    Args:
        path: behind the address.
        body: makes the request of a file in base64 and whether it is a PDF.
        format: of the result.
        key: the header of the key, and what precedes the key in it.
        model: that is asked by default, where there are several.
        polls: the reply is a place where the result will be.
        inside: where the result is in the reply, key by key.
        about: path of a request that reads nothing.
        start: a command that starts it on this machine, where it can be.
    """

    path: str
    body: Callable[[str, bool], Mapping[str, Any]]
    format: OcrFormat
    key: tuple[str, str] = ("Authorization", "Bearer ")
    model: str = ""
    polls: bool = False
    query: Mapping[str, str] = field(default_factory=dict)
    inside: tuple[str, ...] = ()
    about: str = "/health"
    start: str = ""


def _mistral(file: str, is_pdf: bool) -> Mapping[str, Any]:
    kind, media = ("document_url", "application/pdf") if is_pdf else ("image_url", "image/png")
    return {"document": {"type": kind, kind: f"data:{media};base64,{file}"}}


def _docling(file: str, is_pdf: bool) -> Mapping[str, Any]:
    source = {"kind": "file", "base64_string": file, "filename": f"page.{'pdf' if is_pdf else 'png'}"}
    return {"sources": [source], "options": {"to_formats": ["json"], "image_export_mode": "placeholder"}}


CALLS = {
    # api version 2024-11-30; offsets in code points, so that pages can be cut
    "azure": Call(
        "/documentintelligence/documentModels/prebuilt-layout:analyze",
        lambda file, _: {"base64Source": file},
        Azure(),
        ("Ocp-Apim-Subscription-Key", ""),
        polls=True,
        query={
            "api-version": "2024-11-30",
            "outputContentFormat": "markdown",
            "stringIndexType": "unicodeCodePoint",
            "features": "formulas",
        },
        about="/documentintelligence/info?api-version=2024-11-30",
    ),
    "mistral": Call("/v1/ocr", _mistral, Mistral(), model="mistral-ocr-latest", about="/v1/models"),
    "docling_serve": Call(
        "/v1/convert/source",
        _docling,
        Docling(),
        ("X-Api-Key", ""),
        inside=("document", "json_content"),
        start="docling-serve run",
    ),
    "paddlex": Call(
        "/layout-parsing",
        lambda file, is_pdf: {"file": file, "fileType": 0 if is_pdf else 1},
        PaddleOcr(),
        start="paddlex --serve --pipeline PP-StructureV3",
    ),
}


class Service(StructuredOcr, kind="service"):
    """Sends page images or PDFs to Azure Document Intelligence, Mistral OCR, docling-serve or PaddleX serving.

    Requests that are refused for the moment (429 and 5xx) are sent again after the time that the service asks for.
    The key comes from an environment variable only.
    """

    extra: ClassVar[str | None] = "openai"
    service: Annotated[Literal["azure", "mistral", "docling_serve", "paddlex"], Field(description="Which one.")]
    base_url: Annotated[str, execution("Its address.", pattern=r"^https?://")]
    model: Annotated[str, Field(description="A model's name, for services with several.")] = ""
    api_key_env: Annotated[str | None, execution("Environment variable that holds the key.")] = None
    input: Annotated[
        Literal["image", "pdf"], Field(description="A request for each page's image, or for each document's PDF.")
    ] = "image"
    source: Annotated[
        Literal["rendered", "original"],
        Field(description="For `pdf`: the page images with their noise, or the benchmark's own file."),
    ] = "rendered"
    dpi: Annotated[int, Field(gt=0, le=1200, description="Resolution that the pages of a rendered PDF claim.")] = 150
    concurrency: Annotated[int, execution("Requests under way at once.", gt=0)] = 4
    timeout: Annotated[float, execution("Seconds for one page, with all tries.", gt=0)] = 300.0
    retries: Retries = 5
    backoff: Backoff = 1.0
    batch_size: Annotated[int, execution("Pages handed out at once.", gt=0)] = 32

    @property
    def reads_original(self) -> bool:  # type: ignore[override] # depends on a field
        """Whether the benchmark's own files are sent."""
        return self.input == "pdf" and self.source == "original"

    @property
    def reads_documents(self) -> bool:  # type: ignore[override] # depends on a field
        """Whether a request is about a whole document."""
        return self.input == "pdf"

    def check(self) -> None:
        """Raise when a library or the key is missing; asks the service nothing."""
        extras.require("httpx", "openai")
        if self.source == "original" and self.input != "pdf":
            raise PluginError(f"ocr {self.kind}: source: original needs input: pdf")
        check_key(f"ocr {self.kind}", self.base_url, self.api_key_env)

    def servers(self) -> tuple[Server, ...]:
        """Return the service."""
        call = CALLS[self.service]
        return (Server(self.base_url, call.about, key_header(self.api_key_env, *call.key), start=call.start),)

    def identity(self) -> Mapping[str, object]:
        """Identify the service, and the reader of its replies."""
        return {**super().identity(), **reader_identity(CALLS[self.service].format)}

    def recognise(self, images: Sequence[Image]) -> Iterator[Recognition]:
        """Read pages, several at once."""
        with ThreadPoolExecutor(self.concurrency) as pool:
            yield from pool.map(partial(self._page, images), range(len(images)))

    def recognise_document(self, view: DocumentView) -> Sequence[Recognition]:
        """Read a document with one request; or page by page where images are sent."""
        count = len(view.images)
        if reason := lost(self.base_url):
            return [Recognition(error=reason)] * count
        if self.input == "image":
            return list(self.recognise(view.images))
        if self.source == "rendered":
            with TemporaryDirectory(prefix="ohr-") as folder:
                path = Path(folder) / "document.pdf"
                pdf.write(path, view.images, self.dpi)
                return self._read(path.read_bytes(), count, is_pdf=True)
        return of_view(view, lambda path, pages: self._read(path.read_bytes(), pages, is_pdf=True))

    def _page(self, images: Sequence[Image], place: int) -> Recognition:
        if reason := lost(self.base_url):  # before the work of making an image
            return Recognition(error=reason)
        try:
            file = encoded(images[place])
        except Exception as error:  # a benchmark or a noise may raise anything while it makes an image
            return Recognition(error=f"no page image: {type(error).__name__}: {error}")
        return self._read(file, 1, is_pdf=False)[0]

    def _read(self, file: bytes, count: int, *, is_pdf: bool) -> list[Recognition]:
        began = perf_counter()
        try:
            pages = self._pages(file, is_pdf, monotonic() + self.timeout * count)
        except Failure as error:
            return [Recognition(error=error.reason)] * count
        seconds = (perf_counter() - began) / count
        if pages and max(pages) >= count:
            return [Recognition(error=f"the service returned page {max(pages) + 1} of {count}")] * count
        lost = Recognition(error="the service returned no such page")
        return [Recognition(blocks=tuple(pages[i]), seconds=seconds) if i in pages else lost for i in range(count)]

    def _pages(self, file: bytes, is_pdf: bool, end: float) -> Mapping[int, Sequence[Block]]:
        call, httpx = CALLS[self.service], extras.load("httpx", "openai")
        key = key_of(f"ocr {self.kind}", self.base_url, self.api_key_env)
        name, prefix = call.key
        headers = {name: f"{prefix}{key}"} if key else {}
        url = self.base_url.rstrip("/") + call.path
        named = {"model": self.model or call.model} if call.model else {}
        body = {**call.body(b64encode(file).decode(), is_pdf), **named}
        limit = httpx.Timeout(60.0, connect=CONNECT)
        with httpx.Client(headers=headers, timeout=limit, follow_redirects=False) as http:
            send = partial(http.post, url, params=call.query, json=body)
            reply = self._sent(send, end)
            if call.polls:
                reply = self._polled(http, reply, end)
            return _pages_of(call, _json(reply))

    def _sent(self, send: Callable[[], Any], end: float) -> Any:
        asked = (self.base_url, self.model, os.environ.get(self.api_key_env or "", ""))
        start = CALLS[self.service].start
        return Tries(self.base_url, asked, self.retries, self.backoff, self._masked, start).sent(send, end)

    def _polled(self, http: Any, reply: Any, end: float) -> Any:
        """Wait for the result at the place that the reply names."""
        place = reply.headers.get("operation-location")
        if not place or not str(place).startswith(self.base_url.rstrip("/")):  # the key goes nowhere else
            raise Failure("the service did not say where the result will be")
        while monotonic() < end:
            reply = self._sent(partial(http.get, place), end)
            status = _json(reply).get("status")
            if status == "succeeded":
                return reply
            if status == "failed":
                raise Failure(f"the service failed: {self._masked(reply.text)}")
            sleep(min(retry_after(reply.headers) or _POLL, max(end - monotonic(), 0)))
        raise Failure(f"no result within {self.timeout:g} s a page")

    def _masked(self, text: str) -> str:
        return " ".join(without_key(text, os.environ.get(self.api_key_env or "", "")).split())[:200]


def _pages_of(call: Call, parsed: Any) -> Mapping[int, Sequence[Block]]:
    try:
        for key in call.inside:
            parsed = parsed[key]
        return call.format.pages(parsed)
    except Unreadable as error:
        raise Failure(f"its result is {error}") from None
    except (AttributeError, IndexError, KeyError, TypeError, RecursionError) as error:  # a reply may hold anything
        raise Failure(f"its result is not as expected ({type(error).__name__}: {error})") from None


def _json(reply: Any) -> Any:
    try:
        return reply.json()
    except ValueError:
        raise Failure(f"the reply is not JSON: {' '.join(reply.text.split())[:100]}") from None
