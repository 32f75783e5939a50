"""Commands of LaTeX formulas by what they mean to a comparison."""


def _commands(names: str) -> set[str]:
    return {rf"\{name}" for name in names.split()}


FUNCTIONS = _commands(
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf limsup ln log max min"
    " Pr sec sin sinh sup tan tanh"
)
"""Names that are set as their letters."""

DROPPED = {
    *("&", "~", r"\ "),
    *_commands(", ; : ! > / quad qquad thinspace medspace thickspace enspace space nobreakspace negthinspace"),
    *_commands("left right middle displaystyle textstyle scriptstyle scriptscriptstyle limits nolimits nonumber notag"),
    *(rf"\{size}{side}" for size in ("big", "Big", "bigg", "Bigg") for side in ("", "l", "r", "m")),
    *_commands("hline bf rm it sf tt cal"),
}
DROPPED_WITH_ARGUMENT = _commands("tag tag* label hspace hspace* vspace color textcolor mspace")

TRANSPARENT = _commands(
    "mathrm mathbf mathit mathsf mathtt mathbb mathcal mathscr mathfrak mathnormal mathop mathrel mathbin mathord"
    " mathopen mathclose mathinner text textrm textbf textit textsf texttt textnormal textup textmd mbox hbox bm"
    " boldsymbol pmb operatorname operatorname* emph"
)
"""Fonts: what they set is compared, and they are not."""

ARGUMENTS = {
    **dict.fromkeys(_commands("frac binom overset underset stackrel"), 2),
    **dict.fromkeys(
        _commands(
            "sqrt hat textcircled bar tilde vec dot ddot dddot acute grave check breve overline underline overbrace"
            " underbrace overrightarrow overleftarrow boxed cancel substack xrightarrow xleftarrow phantom not"
        ),
        1,
    ),
}

_SECOND_NAMES = {
    "frac": "dfrac tfrac cfrac",
    "binom": "dbinom tbinom",
    "hat": "widehat",
    "tilde": "widetilde",
    "leq": "le ≤ leqslant",
    "geq": "ge ≥ geqslant",
    "neq": "ne ≠",
    "rightarrow": "to →",
    "leftarrow": "gets ←",
    "Rightarrow": "⇒",
    "Longrightarrow": "implies",
    "Longleftrightarrow": "iff",
    "leftrightarrow": "↔",
    "wedge": "land ∧",
    "vee": "lor ∨",
    "neg": "lnot ¬",
    "cap": "∩",
    "cup": "∪",
    "ast": "* ∗",
    "ldots": "dots dotsc …",
    "cdots": "dotsb dotsm dotsi ⋯",
    "in": "∈",
    "notin": "∉",
    "subset": "⊂",
    "subseteq": "⊆",
    "forall": "∀",
    "exists": "∃",
    "infty": "∞",
    "partial": "∂",
    "nabla": "∇",
    "sum": "∑",
    "prod": "∏",
    "int": "∫",
    "times": "×",
    "cdot": "· ⋅",
    "pm": "±",
    "mp": "∓",
    "approx": "≈",
    "equiv": "≡",
    "sim": "∼",
    "propto": "∝",
    "prime": "′",
    "circ": "∘",
    "langle": "⟨",
    "rangle": "⟩",
    "ell": "ℓ",
    "emptyset": "∅",
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "varepsilon": "ε",
    "epsilon": "ϵ",
    "zeta": "ζ",
    "eta": "η",
    "theta": "θ",
    "iota": "ι",
    "kappa": "κ",
    "lambda": "λ",
    "mu": "μ µ",
    "nu": "ν",
    "xi": "ξ",
    "pi": "π",
    "rho": "ρ",
    "sigma": "σ",
    "tau": "τ",
    "upsilon": "υ",
    "varphi": "φ",
    "phi": "ϕ",
    "chi": "χ",
    "psi": "ψ",
    "omega": "ω",
    "Gamma": "Γ",
    "Delta": "Δ ∆",
    "Theta": "Θ",
    "Lambda": "Λ",
    "Xi": "Ξ",
    "Pi": "Π",
    "Sigma": "Σ",
    "Phi": "Φ varPhi",
    "Psi": "Ψ",
    "Omega": "Ω",
}
_SIGNS = {
    "|": r"\mid \vert \lvert \rvert ∣",
    r"\|": r"\Vert \lVert \rVert \parallel ∥",
    r"\{": r"\lbrace",
    r"\}": r"\rbrace",
    "[": r"\lbrack",
    "]": r"\rbrack",
    "(": r"\lparen",
    ")": r"\rparen",
    "<": r"\lt",
    ">": r"\gt",
    ":": r"\colon",
    "-": "− – \\textendash",
}
SAME = {
    **{sign: first for first, others in _SIGNS.items() for sign in others.split()},
    **{
        rf"\{other}" if other.isascii() and other.isalpha() else other: rf"\{first}"
        for first, others in _SECOND_NAMES.items()
        for other in others.split()
    },
}
"""Second names of commands and Unicode signs, with the first name."""

ALIGNING = {
    "align",
    "aligned",
    "equation",
    "gather",
    "gathered",
    "split",
    "multline",
    "eqnarray",
    "displaymath",
    "math",
}
MATRICES = {"matrix", "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "Vmatrix", "smallmatrix", "array", "cases"}
BRACKETS = {
    "pmatrix": ("(", ")"),
    "bmatrix": ("[", "]"),
    "Bmatrix": (r"\{", r"\}"),
    "vmatrix": ("|", "|"),
    "Vmatrix": (r"\|", r"\|"),
    "cases": (r"\{", ""),
}
