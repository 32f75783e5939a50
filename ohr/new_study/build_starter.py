"""The file to start from when questions are to be written: the settings of `ohr data build`."""

from importlib.util import find_spec

_STARTER = """\
# Questions from your own documents: `ohr data build FOLDER --to OUT --spec {spec}`. Every key: docs/questions.md.
writer:                       # writes the questions: any generator of ohr
  name: writer
  kind: openai                # a server with OpenAI's chat API, such as vLLM, Ollama or llama.cpp
  base_url: http://127.0.0.1:8000/v1
  model: MODEL                # its name on that server
# judges:                     # say whether a question is sound; by default the writer, which is kind to itself
#   - {{name: judge, kind: openai, base_url: http://127.0.0.1:8001/v1, model: ANOTHER_MODEL}}
# answerers:                  # answer from the evidence, and without any document; by default the writer
#   - {{name: answerer, kind: openai, base_url: http://127.0.0.1:8001/v1, model: ANOTHER_MODEL}}
{silver}# corrected: corrected        # your own corrected texts, <domain>/<document>.json, which come before both
questions:
  total: 60                   # that are to be left; about twice as many are asked for, since most are not good enough
  reasoning: 0.3              # share whose answer is worked out from the evidence
  multi_page: 0.1             # share with evidence on several pages
verification:
  samples: 5                  # answers from the evidence, of which `confirmed` must be the written one
  confirmed: 3
# prices:                     # per million tokens, in any currency, by name
#   writer: {{in: 0.15, out: 0.60}}
seed: 0
"""
_SILVER = "{mark}silver: {{kind: {engine}}}    # reads pages without a good text layer; every later result says so\n"
ENGINES = {"tesseract": "tesserocr", "rapidocr": "rapidocr"}
"""The engines that ohr ships, by kind, and the module that each needs."""


def build_starter(spec: str = "build.yaml", *, scans: bool = False) -> str:
    """Write the settings of a build to start from, as YAML with comments.

    Args:
        spec: the file's name, for its first line.
        scans: some documents have no text layer, so that an engine that is installed here reads them.
    """
    here = [kind for kind, module in ENGINES.items() if find_spec(module)]
    engine = here[0] if here else next(iter(ENGINES))
    silver = _SILVER.format(engine=engine, mark="" if scans and here else "# ")
    return _STARTER.format(spec=spec, silver=silver)
