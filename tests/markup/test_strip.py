import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.markup.strip import strip_markup


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("", ""),
        ("plain words, 5 * 3 and snake_case", "plain words, 5 * 3 and snake_case"),
        ("# Title\n\nText", "Title Text"),
        (r"\section*{Title} \textit{some} \underline{wo}rd", "Title some word"),
        ("**two words** *one* _under line_ ***all***", "two words one under line all"),
        ("- item\n* item\n> quote\n1. first", "item item quote 1. first"),
        ("see [the page](http://x.y/z_w) ![alt](img.png)", "see the page alt"),
        ("```python\ncode `x`\n```", "code x"),
        ("| a | b |\n|---|:-:|\n| 1 | - |", "a b 1 -"),
        ("one\n\n---\n\ntwo", "one two"),
        ("<table><tr><td colspan=2>x<sup>2</sup></td><td>R&amp;D</td></tr></table>", "x2 R&D"),
        ("<chart>1 &lt; 2</chart><br/>", "1 < 2"),
        ("keep <username> and a < b > c", "keep <username> and a < b > c"),
        (r"\begin{tabular}{|l|p{3cm}|}\hline A & B \\[2pt] \hline\end{tabular}", "A B"),
        (r"\multicolumn{2}{|c|}{wide} & \multirow[t]{2}{*}{tall} \\ \cline{1-2}", "wide tall"),
        (r"\begin{tabularx}{\textwidth}{XX} a & b \end{tabularx}", "a b"),
        ("Q&A, R&D", "Q&A, R&D"),
        (r"\$5 \& 6\% \_x\_ \#1", "$5 & 6% _x_ #1"),
        (r"\includegraphics[width=3cm]{a.png} \textcolor{red}{text}", "text"),
        ("costs $5 and $10, or US$ and A$ too", "costs $5 and $10, or US$ and A$ too"),
        ("| $ 5 | $ 6 |", "$ 5 $ 6"),
    ],
)
def test_markup_goes_and_content_stays(text, content):
    assert strip_markup(text) == content


@pytest.mark.parametrize(
    ("formula", "content"),
    [
        ("$x^{2}+1$", "x2 1"),
        (r"\(y\) and \[z=1\]", "y and z 1"),
        (r"the $n$th", "the nth"),
        (r"$\frac{a}{b}=\text{if any}$", "a b if any"),
        (r"$\sin \theta \leq 3.14$", "sin θ 3.14"),
        (r"$$\begin{aligned} a &= b \\ c &= d \end{aligned}$$", "a b c d"),
        (r"\begin{equation*}e=mc^2\end{equation*}", "e mc2"),
        (r"$\Delta$ and $\varepsilon$", "Δ and ε"),
    ],
)
def test_contents_of_formulas_stay(formula, content):
    assert strip_markup(formula) == content


@pytest.mark.parametrize(
    "notation",
    [
        r"$x ^ { 2 } + \beta \mathbf{v}$",
        r"$$x^2+\beta\,\boldsymbol{v}$$",
        r"\(x^{2} \quad + \; \beta v\)",
        r"\[ x² + β 𝐯 \]",
        r"$ x^2 + \beta v $",
    ],
)
def test_notations_of_one_formula_agree(notation):
    assert strip_markup(notation) == "x2 βv"


plain = st.lists(st.from_regex(r"[A-Za-z0-9]{1,8}[.,]?", fullmatch=True), min_size=2, max_size=12)
style = st.sampled_from(
    ["**{}**", "*{}*", "_{}_", r"\textbf{{{}}}", r"\textit{{{}}}", r"\underline{{{}}}", "<b>{}</b>"]
)


@given(plain, style, st.data())
def test_styles_around_runs_of_words_change_no_content(run, mark, data):
    start = data.draw(st.integers(0, len(run) - 1))
    end = data.draw(st.integers(start + 1, len(run)))
    marked = [*run[:start], mark.format(" ".join(run[start:end])), *run[end:]]
    assert strip_markup(" ".join(marked)) == " ".join(run)


@given(plain, st.data())
def test_line_breaks_change_no_content(run, data):
    gap = data.draw(st.integers(1, len(run) - 1))
    assert strip_markup(" ".join(run[:gap]) + "\n" + " ".join(run[gap:])) == " ".join(run)


@given(st.text(st.sampled_from("ab $\\{}*_|&<>[]()\n#`^-=1"), max_size=60))
def test_any_text_can_be_stripped(text):
    result = strip_markup(text)
    assert result == " ".join(result.split())
    assert set(result) <= set(text) | {" "}


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "mark", [r"\[ ", r"\( ", "$x ", "$$ x ", r"\begin{equation} ", "<!-- ", "**a ", "_a ", "| - ", "{", "[", "$"]
)
def test_a_page_of_repeated_openings_is_stripped_in_time(mark):
    assert len(strip_markup(mark * 4000)) <= len(mark) * 4000
