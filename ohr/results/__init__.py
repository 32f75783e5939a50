"""Results of a run: tables and the folder that holds them."""
