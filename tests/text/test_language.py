import pytest

from ohr.text.language import is_chinese, is_foreign, language

PAGES = {
    "en": "The lease began in May and ends with the death of the tenant. Rent is due on the first day of each month.",
    "de": "Der Vertrag beginnt im Mai und endet mit dem Tod des Mieters. Die Miete ist am ersten Tag zu zahlen.",
    "fr": "Le bail commence au mois de mai et prend fin avec la mort du locataire. Le loyer est payable par avance.",
    "es": "El contrato comienza en el mes de mayo y termina con la muerte del inquilino. La renta se paga por mes.",
    "it": "Il contratto comincia nel mese di maggio e finisce con la morte del locatario. Il canone si paga ogni mese.",
    "pt": "O contrato tem a data de maio e acaba com a morte do inquilino. A renda é paga em cada mês, não ao ano.",
    "nl": "De huur begint in mei en eindigt met de dood van de huurder. Het bedrag wordt op de eerste dag betaald.",
    "sv": "Avtalet börjar i maj och slutar med att hyresgästen dör. Hyran är att betala till den första dagen.",
    "da": "Lejemålet begynder i maj og ender med at lejeren dør. Det er til at betale af den første på dagen.",
    "pl": "Umowa zaczyna się w maju i kończy się, gdy najemca umrze. Czynsz jest płatny przez cały rok, nie później.",
    "tr": "Sözleşme mayıs ayında başlar ve kiracının ölümü ile sona erer. Kira bir ay için ilk gün ödenir, daha sonra.",
    "zh": "租约于五月开始，至承租人去世时终止。租金应于每月第一日支付。",
    "ja": "この契約は五月に始まり、借主の死亡によって終わります。家賃は毎月の初日に支払います。",
    "ko": "이 계약은 오월에 시작하여 임차인의 사망으로 끝납니다. 임대료는 매월 첫날에 지급합니다.",
    "other": "Договор начинается в мае и заканчивается со смертью нанимателя. Плата вносится в первый день месяца.",
}


@pytest.mark.parametrize("code", PAGES)
def test_a_text_is_in_its_language(code):
    assert language(PAGES[code]) == code


@pytest.mark.parametrize("text", ["", "12.5 30.1 44", "Ketch 12 Yawl 14 Sloop 9 Schooner 31 Cutter 8 Brig 22"])
def test_a_text_without_function_words_is_in_none(text):
    assert language(text) is None


@pytest.mark.parametrize("text", ["Wie hoch ist der Preis?", "Quel est le prix?", "Какова цена?", "家賃はいくらですか"])
def test_a_short_text_may_be_foreign_for_sure(text):
    assert is_foreign(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "Who won the Tour de France?", "What is a die?", "Where does Leonardo da Vinci lie?", "价格是多少？",
        "Preis?",
    ],
)  # fmt: skip
def test_a_short_text_is_not_foreign_by_a_name(text):
    assert not is_foreign(text)


def test_an_english_page_may_quote_another_language():
    assert language(PAGES["en"] + " Der Vertrag beginnt im Mai.") == "en"
    assert language(PAGES["en"] + " 租约于五月开始") == "en"


def test_a_text_is_chinese_from_a_fifth_of_its_letters_on():
    assert is_chinese("aaaa租") and not is_chinese("aaaaa租")
    assert not is_chinese("") and not is_chinese("é" * 40)
