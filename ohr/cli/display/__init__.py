"""What commands print: tables, progress, curves."""
