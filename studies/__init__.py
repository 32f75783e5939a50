"""Studies that the documentation quotes: their kept runs, and the scripts that make pages and sentences of them."""
