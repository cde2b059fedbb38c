"""Words that tables of many countries use for missing values, for yes and no, and for the sexes."""

from __future__ import annotations

_MARKS = frozenset(
    {"", "?", "-", "--", ".", "..", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None"}
)
"""To the letter: Na may be sodium, and none an answer."""
_MISSING = frozenset(
    {
        "n.a.", "unknown", "not known", "no answer", "not available", "missing",
        "k.a.", "k. a.", "k.a", "keine angabe", "keine angaben", "unbekannt", "nicht bekannt", "fehlt",
        "sans réponse", "sans reponse", "inconnu", "inconnue", "non renseigné", "n.c.", "nsp",
        "sin respuesta", "desconocido", "desconocida", "no consta", "sin datos", "ns/nc", "s/d",
        "sconosciuto", "sconosciuta", "non noto", "nessuna risposta", "non disponibile",
        "okänd", "okänt", "uppgift saknas", "sem resposta", "desconhecido",
        "不详", "不明", "未知", "未填", "未填写", "缺失", "不知道",
    }
)  # fmt: skip
YES_AND_NO = (
    ("yes", "no"), ("y", "n"), ("true", "false"), ("on", "off"), ("ja", "nein"), ("j", "n"),
    ("wahr", "falsch"), ("oui", "non"), ("o", "n"), ("vrai", "faux"), ("sí", "no"), ("si", "no"),
    ("s", "n"),
    ("verdadero", "falso"), ("是", "否"), ("有", "无"), ("真", "假"), ("对", "错"),
)  # fmt: skip
SEXES = frozenset(
    {
        "m", "f", "w", "d", "x", "h", "u", "k", "male", "female", "man", "woman", "men", "women",
        "other", "diverse", "non-binary", "intersex", "männlich", "weiblich", "divers", "mann", "frau",
        "homme", "femme", "masculin", "féminin", "hombre", "mujer", "masculino", "femenino", "varón",
        "maschio", "femmina", "uomo", "donna", "kvinna", "男", "女", "男性", "女性", "其他",
    }
)  # fmt: skip


def means_missing(text: str) -> bool:
    """Return whether a text is a usual mark for a missing value, or a word for it in whatever case."""
    text = text.strip()
    return text in _MARKS or text.lower() in _MISSING
