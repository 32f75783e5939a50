"""Verdicts of models, and agreement of their replies with accepted answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.contracts import Completion
from ohr.questions.judging.answer_agreement import RIGHT_WRONG, TASKS, YES_NO, agrees, named_in, verdict, yes_or_no
from ohr.questions.judging.model_rules import reply_of

REPLIES = {
    "yes": (YES_NO, ["yes", "Yes, since it names the company.", "The question names a place.\nAnswer: **yes**",
                     "The question names a place.\nYes.", '```json\n{"answer": true}\n```', "I would say yes here.",
                     "是。问题写明了公司。"]),
    "no": (YES_NO, ["**No.** The question says nothing.", "Answer: no", "不能", "否", "判断：否",
                    '{"verdict": "no", "reason": "yes and no"}']),
    "neither": (YES_NO, ["yes or no", "是否", "是或否", "It depends: yes for some, no for others.",
                        "Nothing of this", ""]),
    "wrong": (RIGHT_WRONG, ["wrong", "Not correct", "不正确"]),
    "right": (RIGHT_WRONG, ["Correct.", "正确"]),
    "unknown": (RIGHT_WRONG, ["unknown"]),
    "understanding": (TASKS, ["understanding", "答案：理解"]),
    "reasoning": (TASKS, ["Reasoning: two numbers are added.", "This is a question of reasoning", "推理"]),
    "either": (TASKS, ["understanding or reasoning"]),
}  # fmt: skip
"""Words and replies by the verdict that they give; it is no word where they give none."""


@pytest.mark.parametrize("expected", REPLIES)
def test_verdicts_are_read_however_they_are_written(expected):
    words, replies = REPLIES[expected]
    assert {reply: verdict(reply, words) for reply in replies} == dict.fromkeys(
        replies, expected if expected in words else ""
    )


@pytest.mark.parametrize(
    ("question", "reply", "expected"),
    [
        ("What is the rent of Berth 3 in Norrgate?", "Norrgate", "names"),
        ("What is the rent of Berth 3 in Norrgate?", "Names: norrgate, berth 3", "names"),
        ("What is the rent of Berth 3 in Norrgate?", "It names **Norrgate**.", "names"),
        ("What is the rent of Berth 3 in Norrgate?", "none", "none"),
        ("What is the rent of Berth 3 in Norrgate?", "Paris", ""),
        ("What is the rent in this table?", "table", "none"),
        ("What is the rent in this table?", "What is the rent in this table?", "none"),
        ("What is the rent in this table?", "There is no name.", "none"),
        ("What is the rent in this table?", "Names: none", "none"),
        ("What is the rent in 2019?", "2019", "none"),
        ("云岫县一共要购置多少辆公交车？", "云岫县", "names"),
        ("云岫县一共要购置多少辆公交车？", "名称：云岫县、公交车", "names"),
        ("云岫县政务公报第几期公布了预算？", "云 岫 县 政 务 公 报", "names"),
        ("云 岫 县 政 务 公 报第几期公布了预算？", "云 岫 县 政 务 公 报", "names"),
        ("云 岫 县 政 务 公 报第几期公布了预算？", "云岫县政务公报", "names"),
        ("该 公 司的收入是多少？", "该 公 司", "none"),
        ("该公司的收入是多少？", "该公司", "none"),
        ("该公司的收入是多少？", "无", "none"),
        ("PilotLog有多少段落？", "PilotLog", "names"),
        ("What weighs Regulator No. 27?", "No. 27", "names"),
        ("What?", "", ""),
    ],
)
def test_a_name_counts_where_the_question_has_it(question, reply, expected):
    assert named_in(question, reply) == expected


@given(st.text(), st.text())
def test_no_reply_about_names_raises(question, reply):
    assert named_in(question, reply) in ("names", "none", "")


def test_yes_and_no_of_answers():
    assert [yes_or_no(text) for text in ("Yes, both", "否", "thirty", "Not at all")] == [True, False, None, False]


@given(st.one_of(st.text(), st.text(alphabet='{}[]":,yesno是否答案 \n'), st.text(alphabet="{[", min_size=3000)))
def test_no_reply_raises(reply):
    for words in (YES_NO, RIGHT_WRONG, TASKS):
        assert verdict(reply, words) in ("", *words)


@pytest.mark.parametrize(
    ("completion", "text", "fault"),
    [
        (Completion("yes"), "yes", ""),
        (Completion("<think>no, or is it?</think>\nyes"), "yes", ""),
        (Completion("<think>no, or is it?"), "", "the reply is empty"),
        (Completion(" \n"), "", "the reply is empty"),
        (Completion("no", finish="error", error="timed out"), "", "the model failed: timed out"),
        (Completion("yes", truncated=True), "", "the prompt was cut to fit the model"),
        (Completion("The question na", finish="length"), "", "the reply was cut"),
        (Completion("yes\nThe question na", finish="length"), "yes", ""),
        (Completion("<think>is it", finish="length"), "", "the reply was cut"),
    ],
)
def test_replies_that_cannot_be_used_say_why(completion, text, fault):
    assert reply_of(completion) == (text, fault)


PAIRS = [
    ("How many vectors does it keep for a passage of 144 tokens?", ["36"], "Numeric",
     ["36", "36 vectors", "thirty-six", "The answer is 36.", "It keeps 36 vectors for a passage of 144 tokens.",
      "3 * 12 = 36", "**36**", "$36$", '{"answer": 36}', "b = 3 × 12 = 36.", "Answer: 36"],
     ["37", "360", "36 or 37", "between 36 and 40", "-36", "3.6", "36%", "144", "unknown", "", "It is not 36."]),
    ("How much time does the rule add?", ["eleven minutes"], "Numeric",
     ["11 minutes", "Eleven minutes", "11 min", "11", "It adds eleven minutes."],
     ["11 hours", "12 minutes", "eleven hours", "324 minutes"]),
    ("How many bytes do the vectors occupy?", ["1,400 bytes"], "Numeric",
     ["1400", "1,400 bytes", "1400 bytes"],
     ["1.4", "14,000 bytes", "1,400 kilobytes", "140"]),
    ("What share of the budget is state aid?", ["12.5%"], "Numeric",
     ["12.5 percent", "12.5 per cent", "0.125", "12.5", "12.50%", "12.5 %", "12.5\\%"],
     ["0.125%", "125%", "12%", "1.25", "13%", "112.5%"]),
    ("What is the ratio of the two?", ["0.125"], "Numeric",
     ["12.5%", "0.125", ".125", "0.1250"],
     ["12.5", "0.125%", "1.25"]),
    ("How much is the rent?", ["1.2 million florins"], "Numeric",
     ["1,200,000 florins", "1.2 million", "1.2", "1200000"],
     ["1.2 billion florins", "120,000 florins", "12 million"]),
    ("By how much did it change?", ["-5"], "Numeric",
     ["-5", "−5", "It changed by -5."],
     ["5", "-5.5", "+5"]),
    ("What is the mean?", ["2.92"], "Numeric",
     ["2.92", "2.9235", "approximately 2.92"],
     ["2.9", "3", "2.93", "29.2"]),
    ("When does the lease end?", ["20 June 2024"], "String",
     ["June 20, 2024", "2024-06-20", "20 June 2024", "2024年6月20日", "It ends on June 20th, 2024.",
      "20th of June 2024"],
     ["June 20, 2023", "20 July 2024", "2024", "June 2024", "21 June 2024"]),
    ("By when must people apply?", ["June 20"], "String",
     ["20 June", "June 20, 2024", "6月20日", "by Jun 20"],
     ["June 21", "July 20", "20", "June"]),
    ("When does the last bus leave?", ["16:35"], "String",
     ["4:35 pm", "16:35", "At 16:35."],
     ["4:35 am", "16:53", "6:35"]),
    ("Were they allowed to excavate?", ["No"], "Yes/No",
     ["No", "no.", "No, the terms excluded it.", "Answer: No", '{"answer": false}', "否", "**No**"],
     ["Yes", "yes, they were", "It is not known", "Yes or no", "unknown", "They dug"]),
    ("两条线路的票价是否相同？", ["是"], "Yes/No",
     ["是", "是的，相同", "答案：是", "Yes", "对"],
     ["否", "不是", "不相同", "不知道", "是否"]),
    ("Which food gained most?", ["Earthworms"], "String",
     ["earthworms", "Earthworms.", "The food that gained most is earthworms", "Earthworm", '{"answer": "Earthworms"}'],
     ["Ragworms", "Earthworms or ragworms", "Earthworms and ragworms", "Worms", "not earthworms", "Mussels, ragworms"]),
    ("Where did parties of oystercatchers fly at high water?", ["the wet pastures behind Skelvick"], "String",
     ["wet pastures behind Skelvick", "They flew to the wet pastures behind Skelvick.", "to pastures behind Skelvick",
      "Wet pastures near Skelvick"],
     ["Skelvick", "to the mussel beds behind the Hool", "the dry dunes behind Skelvick", "the sea", "the wet sands"]),
    ("Which property of soil was the reason?", ["Soil conducts better when it is warm"], "String",
     ["It conducts better when warm", "Warm soil conducts better",
      "Soil conducts electricity better when it is warm."],
     ["Soil conducts worse when it is cold and dry", "Soil does not conduct better when it is warm", "Its color"]),
    ("What was found on line T3?", ["some twenty centimetres of limestone rubble"], "String",
     ["limestone rubble", "20 centimetres of limestone rubble", "About 20 centimetres of limestone rubble"],
     ["thirty centimetres of limestone rubble", "a coin", "sandstone rubble", "twenty centimetres of clay"]),
    ("Which two sources make up 30 percent?", ["State aid; fees and charges"], "List",
     ["State aid and fees and charges", "fees and charges, state aid",
      "The two sources are state aid and fees and charges.", "Fees and charges; State aid",
      '{"answer": ["State aid", "Fees and charges"]}', "- State aid\n- Fees and charges"],
     ["State aid", "Fees and charges", "State aid and property tax", "State aid, fees and charges, property tax"]),
    ("Which plots had more than 200 cockles?", ["North Bar, Wreck Channel"], "List",
     ["Wreck Channel and North Bar", "North Bar\nWreck Channel", "The plots North Bar and Wreck Channel."],
     ["North Bar", "North Bar, Wreck Channel, Causeway", "Causeway and Wreck Channel", "all of them"]),
    ("On which four days were the hearings held?", ["March 19, March 31, April 14, April 28"], "List",
     ["March 19 and 31, April 14 and 28", "April 14, April 28, March 19, March 31"],
     ["March 19, March 31, April 14", "March 19, March 31, April 14, April 29", "March 19"]),
    ("云岫县城乡公交改革后设了哪三个换乘枢纽？", ["县汽车站、高铁云岫站、县人民医院"], "List",
     ["县汽车站、高铁云岫站和县人民医院", "高铁云岫站、县人民医院、县汽车站",
      "三个换乘枢纽是县汽车站、高铁云岫站和县人民医院。"],
     ["县汽车站、高铁云岫站", "县汽车站、高铁云岫站、县中学", "县汽车站", "不知道"]),
    ("一共要购置多少辆纯电动公交车？", ["68辆"], "Numeric",
     ["68", "68辆", "六十八辆", "一共要购置68辆纯电动公交车。", "答案是68辆"],
     ["86辆", "6.8辆", "22辆", "68辆或70辆"]),
    ("专项债券占百分之几？", ["35%"], "Numeric",
     ["百分之35", "35", "35％", "占35%。"],
     ["40%", "0.35%", "65%"]),
    ("能享受什么优惠？", ["减收1元"], "String",
     ["减收1元", "1元", "可以减收1元。"],
     ["减收2元", "免费", "1小时"]),
    ("卖掉影人等于卖掉什么？", ["一村子的亲戚"], "String",
     ["一村子的亲戚", "等于卖掉一村子的亲戚。", "村子的亲戚"],
     ["一箱影人", "他的房子", "牯牛"]),
    ("哪一个业务分部的毛利率最高？", ["医疗植入陶瓷"], "String",
     ["医疗植入陶瓷", "医疗植入陶瓷分部的毛利率最高。"],
     ["半导体陶瓷部件", "工业陶瓷", "医疗植入陶瓷和半导体陶瓷部件"]),
    ("最迟哪天签收购协议，最后一辆车又应在哪天交车？", ["6月20日前签协议；6月30日末班后交车"], "List",
     ["6月20日前签协议，6月30日末班后交车", "6月20日，6月30日末班后"],
     ["6月20日", "6月20日前签协议；6月25日交车"]),
    ("In which year did a second flight add a line?", ["1989"], "String",
     ["1989", "In 1989.", "The second flight was in 1989"],
     ["1988", "19.89", "In 1989 or 1990"]),
    ("Who tends the harbour?", ["Mara Quill", "the harbour master"], "String",
     ["Mara Quill", "Quill", "harbour master", "The harbour master tends it."],
     ["Mara Stone", "the pilot", "nobody"]),
]  # fmt: skip
"""Replies that give an accepted answer and replies that do not: (question, answers, form, right, wrong)."""


@pytest.mark.parametrize(("question", "answers", "form", "right", "wrong"), PAIRS, ids=[pair[0][:40] for pair in PAIRS])
def test_right_and_wrong_replies_are_told_apart(question, answers, form, right, wrong):
    assert [reply for reply in right if not agrees(reply, answers, form, question)] == []
    assert [reply for reply in wrong if agrees(reply, answers, form, question)] == []


@given(st.text(), st.text(), st.sampled_from(["String", "Numeric", "List", "Yes/No", "?"]), st.text())
def test_no_text_raises(reply, answer, form, question):
    agrees(reply, [answer], form, question)
