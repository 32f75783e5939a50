"""Replies of a model that every agent is tried on."""

from ohr.contracts import Completion

EXPECTED = (
    "<think>I look.</think><search>ferry berth</search>",
    "<read>1</read>",
    "<bbox>[10, 10, 200, 100]</bbox>",
    '{"reason": "It has it.", "summary": "A lease.", "choice": [0]}',
    '{"reason": "More.", "information": "the year", "choice": [0]}',
    '{"reason": "It says so.", "answer": "1964", "reference": [0]}',
    '{"text": "a clue", "image": "another clue", "Answer": "1964"}',
    "<document_summary>A lease.</document_summary><selected_pages>1, 2</selected_pages>",
    "<query_update>year of the lease</query_update><notes>none yet</notes>",
    "<summary>A page.</summary>",
    "<answer>1964</answer>",
    "<not_answerable>It is not there.</not_answerable>",
)
"""Replies that the published systems expect."""

ODD: tuple[str | Completion, ...] = (
    "",
    " \n\t ",
    "lorem 7 ipsum % {} [] <> }{ ][",
    "合同从1964年开始。<答案>1964</答案>",
    "<think>so <search>ferry <bbox>[1, 2 <answer>19",
    "</search></answer></bbox><search></search><answer></answer><read></read><bbox></bbox>",
    "<ANSWER>x</ANSWER><search>a</answer><query_update></query_update><selected_pages></selected_pages>",
    "<search>a</search><read>1</read><bbox>[0, 0, 9, 9]</bbox><answer>b</answer><query_update>c</query_update>",
    "<bbox>[-1e9, NaN, 1e999, true]</bbox>",
    "<bbox>[9, 9, 1, 1]</bbox><read>-1</read><selected_pages>0, 99999, 7</selected_pages>",
    f"<bbox>[0, 0, 1, {'9' * 5000}]</bbox><read>{'9' * 5000}</read><selected_pages>{'9' * 5000}</selected_pages>",
    '{"reason": 1, "summary": [], "choice": "0", "answer": {"a": 1}, "reference": null, "text": ["a"], "Answer": 5}',
    '{"reason": "a", "summary": "b", "choice": [-1, 99999, 1.5, null, true, "0", [], 1e400], "reference": [9, -9]}',
    '{"reason": "a", "answer": "b", "reference": [], "information": null, "choice": {}}',
    "{'text': 'single', \"choice\": [0,], NaN: 1",
    f'```json\n{{"choice": [{"0, " * 500}0]}}\n```',
    "[" * 5000,
    '{"a": ' * 3000,
    Completion('<answer>It began in {"answer": "19', finish="length"),
    "x " * 5000,
    "<search>" * 1250,
    "\ud800 \x00 e\u0301 \u202e <search>\x00</search>",
)
"""Replies that no system expects: empty, broken, of wrong types, out of range, cut, long."""
