"""MinerU2.x's vision-language model behind a server, asked by its own client: layout first, then each block."""

import asyncio
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import perf_counter
from typing import Annotated, Any, ClassVar

from pydantic import Field

from ohr import extras
from ohr.contracts import Block, Image, Recognition, Server, execution
from ohr.messages.secrets import without_key
from ohr.models.chat_client import start_of
from ohr.models.chat_server import check_key, key_header, key_of
from ohr.models.reach import without_connection
from ohr.models.resident import resident
from ohr.models.tries import Retries

from ..formats.values import formula, kind_of, table
from ..structured import StructuredOcr

_AROUND = re.compile(r".+_(?=caption$|footnote$)|_block$")
"""The rest of a label beside the kind of a part, as in `image_caption` and `equation_block`."""


class MineruVlm(StructuredOcr, kind="mineru_vlm"):
    """Reads pages with `mineru-vl-utils`, which asks the server for the layout and for each block, and reads tables.

    The address is not part of the results' keys, the model's name and the client's version are.
    """

    extra: ClassVar[str | None] = "mineru"
    packages: ClassVar[tuple[str, ...]] = ("mineru-vl-utils",)
    base_url: Annotated[str, execution("The server, such as http://localhost:30000.", pattern=r"^https?://")]
    model: Annotated[str | None, Field(description="The model's name on the server; by default its only one.")] = None
    api_key_env: Annotated[str | None, execution("Environment variable that holds the key.")] = None
    concurrency: Annotated[int, execution("Pages under way at once.", gt=0)] = 8
    timeout: Annotated[int, execution("Seconds for one reply.", gt=0)] = 300
    retries: Retries = 3
    batch_size: Annotated[int, execution("Pages handed out at once.", gt=0)] = 32

    def check(self) -> None:
        """Raise when the client or the key is missing; asks the server nothing."""
        extras.require("mineru_vl_utils", "mineru")
        check_key(f"ocr {self.kind}", self.base_url, self.api_key_env)

    def servers(self) -> tuple[Server, ...]:
        """Return the server, whose list of models anybody with the key may read."""
        start = start_of(self.base_url, self.model or "opendatalab/MinerU2.5-2509-1.2B")
        return (Server(self.base_url, "/v1/models", key_header(self.api_key_env), self.model or "", start),)

    def recognise(self, images: Sequence[Image]) -> Iterator[Recognition]:
        """Read pages, several at once."""
        if not images:
            return
        if reasons := without_connection(self.servers()):  # the client would try for long
            yield from [Recognition(error=reasons[0])] * len(images)
            return
        try:
            client = resident((self.kind, self), self._client, _close)
        except Exception as error:  # the client looks for the server and its model
            yield from [Recognition(error=f"cannot use {self.base_url}: {self._line(error)}")] * len(images)
            return
        with ThreadPoolExecutor(self.concurrency) as pool:
            yield from pool.map(partial(_read, client, images, self._line), range(len(images)))

    def _client(self) -> Any:
        key = key_of(f"ocr {self.kind}", self.base_url, self.api_key_env)
        return extras.load("mineru_vl_utils", "mineru").MinerUClient(
            backend="http-client",
            server_url=self.base_url,
            model_name=self.model,
            server_headers={"Authorization": f"Bearer {key}"} if key else None,
            http_timeout=self.timeout,
            max_retries=self.retries,
            use_tqdm=False,
        )

    def _line(self, error: Exception) -> str:
        return " ".join(without_key(str(error), os.environ.get(self.api_key_env or "", "")).split())[:300]


def _close(client: Any) -> None:
    asyncio.run(client.aclose())


def _read(client: Any, images: Sequence[Image], line: Callable[[Exception], str], place: int) -> Recognition:
    from PIL import Image as Pillow

    began = perf_counter()
    try:
        found = client.two_step_extract(Pillow.fromarray(images[place]))
        blocks = tuple(block for each in found if (block := _block(each)).text.strip())
    except Exception as error:  # its own kinds, and those of the libraries below it
        return Recognition(error=f"{type(error).__name__}: {line(error)}")
    return Recognition(blocks=blocks, seconds=perf_counter() - began)


def _block(found: Mapping[str, Any]) -> Block:
    given, text = str(found.get("type")), str(found.get("content") or "")
    kind = kind_of(_AROUND.sub("", given))
    if kind == "image":
        return Block("description", text) if text else Block("image", "![]()")
    return Block(kind, formula(text) if kind == "formula" else table(text) if kind == "table" else text)
