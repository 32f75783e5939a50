"""Results of OCR and parsing systems, in the files that each system writes."""
