"""Text layers that serve as ground truth: what two readers and OCR say of each page, as a verdict."""
