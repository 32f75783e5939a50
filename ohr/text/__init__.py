"""Plain text: words, sentences, edits."""
