"""A study of your own documents: the spec and the questions to start from."""
