"""A run's results in the forms of other programs: LaTeX, Markdown, CSV and MLflow."""
