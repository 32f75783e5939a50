"""The data of a run: documents, questions and ground truth, checked."""
