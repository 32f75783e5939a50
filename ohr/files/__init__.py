"""Files that hold documents: OHRBench JSON, PDF, images, text."""
