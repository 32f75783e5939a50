"""OCR backends: page images in, texts out."""
