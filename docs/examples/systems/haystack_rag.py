"""Haystack: BM25 finds chunks, kept in memory. Put your chat generator in the place of `MockChatGenerator`."""

from haystack import Pipeline
from haystack.components.builders import ChatPromptBuilder
from haystack.components.converters import TextFileToDocument
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore

PROMPT = "{% for d in documents %}{{ d.content }}\n{% endfor %}\nQuestion: {{ question }}"


def read(messages):
    context, _, question = messages[-1].text.rpartition("\nQuestion: ")
    return max(context.splitlines(), key=lambda line: len({*line.lower().split()} & {*question.lower().split()}))


class Rag:
    def ingest(self, folder, name):
        files = TextFileToDocument().run(sources=sorted(folder.iterdir()))["documents"]
        store = InMemoryDocumentStore()
        store.write_documents(DocumentSplitter(split_length=150).run(files)["documents"])
        self.rag = Pipeline()
        self.rag.add_component("retriever", InMemoryBM25Retriever(store, top_k=3))
        self.rag.add_component("prompt", ChatPromptBuilder([ChatMessage.from_user(PROMPT)]))
        self.rag.add_component("model", MockChatGenerator(response_fn=read))
        self.rag.connect("retriever.documents", "prompt.documents")
        self.rag.connect("prompt.prompt", "model.messages")

    def ask(self, question):
        given = {"retriever": {"query": question}, "prompt": {"question": question}}
        reply = self.rag.run(given, include_outputs_from={"retriever"})
        hits = reply["retriever"]["documents"]
        contexts = [{"text": d.content, "document": d.meta["file_path"], "score": d.score} for d in hits]
        return {"answer": reply["model"]["replies"][0].text, "contexts": contexts}
