"""Files of answers as RAGAS, DeepEval, promptfoo and inspect_ai write them: a module for each layout."""
