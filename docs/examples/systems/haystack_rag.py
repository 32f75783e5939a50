"""Haystack: BM25 finds chunks, kept in memory. Put your chat generator in the place of `MockChatGenerator`."""

import os

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
from haystack.components.converters import TextFileToDocument
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore


def read(messages):
    *lines, question = messages[-1].text.splitlines()
    return max(lines, key=lambda line: len({*line.split()} & {*question.split()}), default="")


class Rag:
    def ingest(self, folder, name):
        self.store, files = InMemoryDocumentStore(), TextFileToDocument().run(sorted(folder.iterdir()))
        self.store.write_documents(DocumentSplitter(split_length=150).run(**files)["documents"])

    def ask(self, question):
        hits = InMemoryBM25Retriever(self.store, top_k=3).run(question)["documents"]
        prompt = ChatMessage.from_user("\n".join([*(hit.content for hit in hits), question]))
        answer = MockChatGenerator(response_fn=read).run([prompt])["replies"][0].text
        contexts = [{"text": d.content, "document": d.meta["file_path"], "score": d.score} for d in hits]
        return {"answer": answer, "contexts": contexts}
