"""Many files at once: what ohr makes of folders of PDFs and of OCR results, beside a second reader."""
