"""Document models of Hugging Face transformers: their names, how each is asked, and how its reply is read."""
