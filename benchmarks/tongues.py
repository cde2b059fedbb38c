"""How many invented files of offices in 20 languages are read as they are meant?

    python -m benchmarks.tongues
    python -m benchmarks.tongues --failures

Five files of each language are made in memory, each with several difficulties at once:
an old encoding, a block of titles, dates with names of months, money as it is written
there, words for missing, a line of totals, a workbook with a hidden sheet, merged cells
and two lines of column names, columns whose headers name people. A file counts as right
only if every check of it passes. Nothing in it comes from a list of this project.
"""

import io
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import xlsxwriter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.harness import Table, arguments, show
from dpcore.errors import DpcoreError
from dpcore.io import read_table
from dpcore.risk.roles import suggest_roles
from dpcore.schema import suggest_schema

ROWS = 60
TONES = "\u0300\u0301\u0303\u0309\u0323"
"""Of Vietnamese, which its encoding of Windows holds beside the letters."""


@dataclass(frozen=True, kw_only=True)
class Tongue:
    """What offices of a language write.

    Attributes:
        headers: of a person's name, the date of birth, the place, the pay, the hours.
        naming: of given name, family name, telephone, address.
        encodings: of the first and the last file.
        day: how a date of birth is written in words; {d}, {m} and {y}.
        months: words for the months, as they stand in such a date.
        short: how it is written in digits, as of `str.format`.
        signs: before decimals and between thousands.
        money: with the place {n} of the number.
        missing: a word for a missing number, and one for a missing place.
        total, note: in the last lines.
        given, family: names; `order` says which comes first.
    """

    code: str
    headers: tuple[str, str, str, str, str]
    naming: tuple[str, str, str, str]
    encodings: tuple[str, str]
    day: str
    months: str
    short: str
    signs: tuple[str, str]
    money: str
    missing: tuple[str, str]
    total: str
    note: str
    title: str
    given: str
    family: str
    places: str
    order: str = "{given} {family}"


TONGUES = (
    Tongue(
        code="de",
        headers=("Name der Person", "Geburtsdatum", "Wohnort", "Bruttolohn", "Stunden"),
        naming=("Rufname", "Familienname", "Mobiltelefon", "Anschrift"),
        encodings=("cp1252", "cp850"),
        day="{d}. {m} {y}",
        months="Jänner Februar März April Mai Juni Juli August September Oktober November Dezember",
        short="{0.day:02}.{0.month:02}.{0.year}",
        signs=(",", "."),
        money="{n} €",
        missing=("k. A.", "unbekannt"),
        total="Insgesamt",
        note="Quelle: Amt für Statistik, eigene Erhebung",
        title="Beschäftigte nach Wohnort",
        given="Jürgen Käthe Björn Anneliese Götz Sieglinde Uwe Hannelore",
        family="Müller Großmann Weiß Schröder Köhler Jäger Voß Schäfer",
        places="Göttingen Düren Gießen Lübeck Plön",
    ),
    Tongue(
        code="fr",
        headers=("Nom et prénom", "Date de naissance", "Commune", "Salaire", "Heures"),
        naming=("Prénom", "Nom de famille", "Téléphone", "Adresse"),
        encodings=("cp1252", "mac_roman"),
        day="{d} {m} {y}",
        months="janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        short="{0.day:02}/{0.month:02}/{0.year}",
        signs=(",", "\u00a0"),
        money="{n}\u00a0€",
        missing=("n.d.", "inconnu"),
        total="Ensemble",
        note="Source : enquête annuelle",
        title="Salariés par commune",
        given="Hélène François Gérard Noël Agnès Benoît Zoé Loïc",
        family="Lefèvre Béranger Châtelain Desprès Müller Garçon Péguy Roussël",
        places="Évreux Besançon Nîmes Orléans Béziers",
    ),
    Tongue(
        code="es",
        headers=(
            "Nombre y apellidos",
            "Fecha de nacimiento",
            "Municipio",
            "Salario",
            "Horas",
        ),
        naming=("Nombre", "Primer apellido", "Teléfono móvil", "Domicilio"),
        encodings=("cp1252", "cp850"),
        day="{d} de {m} de {y}",
        months="enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        short="{0.day}/{0.month}/{0.year}",
        signs=(",", "."),
        money="{n} €",
        missing=("s/d", "no consta"),
        total="Total general",
        note="Fuente: elaboración propia",
        title="Asalariados por municipio",
        given="José María Íñigo Begoña Ángel Lucía Ramón Inés",
        family="Núñez Ibáñez García Peña Muñoz Martín Zúñiga Cañas",
        places="Cádiz Logroño Ávila Málaga Castellón",
    ),
    Tongue(
        code="pt",
        headers=(
            "Nome completo",
            "Data de nascimento",
            "Concelho",
            "Salário",
            "Horas",
        ),
        naming=("Nome próprio", "Apelido", "Telemóvel", "Morada"),
        encodings=("cp1252", "cp860"),
        day="{d} de {m} de {y}",
        months="janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        short="{0.day:02}-{0.month:02}-{0.year}",
        signs=(",", "."),
        money="R$ {n}",
        missing=("n/d", "sem informação"),
        total="Total",
        note="Fonte: inquérito próprio",
        title="Trabalhadores por concelho",
        given="João Conceição Antônio Inês Simão Luísa Estêvão Graça",
        family="Guimarães Simões Araújo Gonçalves Leitão Brandão Corrêa Falcão",
        places="Évora Guimarães Portimão Setúbal Bragança",
    ),
    Tongue(
        code="sv",
        headers=("Namn", "Födelsedatum", "Kommun", "Månadslön", "Timmar"),
        naming=("Tilltalsnamn", "Efternamn", "Mobilnummer", "Gatuadress"),
        encodings=("cp1252", "cp850"),
        day="den {d} {m} {y}",
        months="januari februari mars april maj juni juli augusti september oktober november december",
        short="{0.year}-{0.month:02}-{0.day:02}",
        signs=(",", " "),
        money="{n} kr",
        missing=("uppgift saknas", "okänd"),
        total="Summa",
        note="Källa: egen undersökning",
        title="Anställda efter kommun",
        given="Åke Gösta Märta Björn Örjan Åsa Håkan Sölve",
        family="Åström Sjöberg Lindgren Öberg Hägg Malmström Nyström Strömberg",
        places="Örebro Västerås Malmö Gävle Umeå",
    ),
    Tongue(
        code="fi",
        headers=(
            "Henkilön nimi",
            "Syntymäaika",
            "Asuinkunta",
            "Kuukausipalkka",
            "Tunnit",
        ),
        naming=("Etunimi", "Sukunimi", "Matkapuhelin", "Katuosoite"),
        encodings=("cp1252", "iso8859_15"),
        day="{d}. {m} {y}",
        months="tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta",
        short="{0.day}.{0.month}.{0.year}",
        signs=(",", "\u00a0"),
        money="{n} €",
        missing=("ei tietoa", "tuntematon"),
        total="Yhteensä",
        note="Lähde: oma kysely",
        title="Palkansaajat kunnittain",
        given="Päivi Yrjö Jääskä Väinö Tyyne Äijö Seppo Mäki",
        family="Hämäläinen Mäkelä Räsänen Pöntinen Väisänen Jääskeläinen Lähde Kärkkäinen",
        places="Jyväskylä Hämeenlinna Seinäjoki Mänttä Riihimäki",
    ),
    Tongue(
        code="pl",
        headers=(
            "Imię i nazwisko",
            "Data urodzenia",
            "Miejscowość",
            "Wynagrodzenie",
            "Godziny",
        ),
        naming=("Imię", "Nazwisko rodowe", "Telefon komórkowy", "Adres zamieszkania"),
        encodings=("cp1250", "cp852"),
        day="{d} {m} {y} r.",
        months="stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
        short="{0.day:02}.{0.month:02}.{0.year}",
        signs=(",", " "),
        money="{n} zł",
        missing=("b.d.", "brak danych"),
        total="Razem",
        note="Źródło: badanie własne",
        title="Zatrudnieni według miejscowości",
        given="Łukasz Małgorzata Stanisław Grażyna Żaneta Wojciech Święcisława Paweł",
        family="Żółkiewski Dąbrowski Śliwa Krzyżanowski Wójcik Gołąb Jabłoński Źrebiec",
        places="Świdnica Gorzów Ełk Żory Grudziądz",
    ),
    Tongue(
        code="cs",
        headers=("Jméno a příjmení", "Datum narození", "Obec", "Mzda", "Hodiny"),
        naming=("Křestní jméno", "Příjmení", "Mobilní telefon", "Ulice a číslo"),
        encodings=("cp1250", "iso8859_2"),
        day="{d}. {m} {y}",
        months="ledna února března dubna května června července srpna září října listopadu prosince",
        short="{0.day}. {0.month}. {0.year}",
        signs=(",", " "),
        money="{n} Kč",
        missing=("neuvedeno", "nezjištěno"),
        total="Celkem",
        note="Zdroj: vlastní šetření",
        title="Zaměstnanci podle obcí",
        given="Jiří Zdeňka Bořivoj Růžena Miloš Květa Ondřej Žofie",
        family="Dvořák Kučerová Němec Růžička Šťastný Hájek Beneš Žižka",
        places="Děčín Plzeň Uničov Třebíč Náchod",
    ),
    Tongue(
        code="hu",
        headers=("Név", "Születési dátum", "Település", "Kereset", "Órák"),
        naming=("Keresztnév", "Vezetéknév", "Telefonszám", "Lakcím"),
        encodings=("cp1250", "cp852"),
        day="{y}. {m} {d}.",
        months="január február március április május június július augusztus szeptember október november december",
        short="{0.year}. {0.month:02}. {0.day:02}.",
        signs=(",", " "),
        money="{n} Ft",
        missing=("nincs adat", "ismeretlen"),
        total="Összesen",
        note="Forrás: saját felmérés",
        title="Foglalkoztatottak települések szerint",
        given="György Erzsébet Ödön Tünde Győző Ágnes Lőrinc Zsófia",
        family="Szőke Kővári Füleki Őze Tűzkő Németh Görög Lőrincz",
        places="Győr Székesfehérvár Üllő Nyíregyháza Fertőd",
        order="{family} {given}",
    ),
    Tongue(
        code="ro",
        headers=(
            "Numele și prenumele",
            "Data nașterii",
            "Localitatea",
            "Salariul",
            "Ore",
        ),
        naming=("Prenumele", "Numele de familie", "Telefon mobil", "Adresa"),
        encodings=("utf-8", "iso8859_16"),
        day="{d} {m} {y}",
        months="ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie",
        short="{0.day:02}.{0.month:02}.{0.year}",
        signs=(",", "."),
        money="{n} lei",
        missing=("fără date", "necunoscut"),
        total="Total",
        note="Sursa: ancheta proprie",
        title="Salariați pe localități",
        given="Ștefan Mărioara Țugurlan Ionuț Brândușa Gheorghiță Răzvan Ilinca",
        family="Țepeș Brâncuși Mureșan Crăciun Rădulescu Stănescu Pârvu Șerban",
        places="Iași Timișoara Brăila Botoșani Târgoviște",
    ),
    Tongue(
        code="lt",
        headers=(
            "Vardas, pavardė",
            "Gimimo data",
            "Savivaldybė",
            "Atlyginimas",
            "Valandos",
        ),
        naming=(
            "Vardas",
            "Pavardė",
            "Mobilusis telefonas",
            "Gyvenamosios vietos adresas",
        ),
        encodings=("cp1257", "iso8859_13"),
        day="{y} m. {m} {d} d.",
        months="sausio vasario kovo balandžio gegužės birželio liepos rugpjūčio rugsėjo spalio lapkričio gruodžio",
        short="{0.year}-{0.month:02}-{0.day:02}",
        signs=(",", " "),
        money="{n} €",
        missing=("nėra duomenų", "nežinoma"),
        total="Iš viso",
        note="Šaltinis: atlikta apklausa",
        title="Darbuotojai pagal savivaldybes",
        given="Jūratė Žygimantas Gražina Šarūnas Eglė Vytautas Rūta Mindaugas",
        family="Šimkus Žukauskas Jankūnas Čepaitis Grigaliūnas Bagdžiūnas Ąžuolas Norkūnas",
        places="Šiauliai Panevėžys Telšiai Kėdainiai Mažeikiai",
    ),
    Tongue(
        code="el",
        headers=(
            "Ονοματεπώνυμο",
            "Ημερομηνία γέννησης",
            "Δήμος",
            "Μισθός",
            "Ώρες",
        ),
        naming=("Όνομα", "Επώνυμο", "Κινητό τηλέφωνο", "Διεύθυνση"),
        encodings=("cp1253", "iso8859_7"),
        day="{d} {m} {y}",
        months="Ιανουαρίου Φεβρουαρίου Μαρτίου Απριλίου Μαΐου Ιουνίου Ιουλίου Αυγούστου Σεπτεμβρίου Οκτωβρίου Νοεμβρίου Δεκεμβρίου",
        short="{0.day}/{0.month}/{0.year}",
        signs=(",", "."),
        money="{n} €",
        missing=("δ/α", "άγνωστο"),
        total="ΣΥΝΟΛΟ",
        note="Πηγή: ίδια έρευνα",
        title="Εργαζόμενοι ανά δήμο",
        given="Γιώργος Ελένη Ευάγγελος Ζωή Λευτέρης Φωτεινή Χρήστος Όλγα",
        family="Παπαδόπουλος Ιωάννου Αγγελής Νικολάου Στεφανίδης Καραγιάννη Μάρκου Χατζής",
        places="Βόλος Λάρισα Καβάλα Χαλκίδα Τρίπολη",
    ),
    Tongue(
        code="ru",
        headers=("ФИО", "Дата рождения", "Город", "Оклад", "Часы"),
        naming=("Имя", "Фамилия", "Мобильный телефон", "Адрес проживания"),
        encodings=("cp1251", "koi8_r"),
        day="{d} {m} {y} г.",
        months="января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
        short="{0.day:02}.{0.month:02}.{0.year}",
        signs=(",", " "),
        money="{n} руб.",
        missing=("н/д", "нет данных"),
        total="Всего",
        note="Источник: собственный опрос",
        title="Работники по городам",
        given="Юрий Наталья Алексей Ольга Фёдор Жанна Щукарь Элла",
        family="Щербаков Жуков Цветаева Юдин Черных Шишкин Ёлкин Хохлов",
        places="Тюмень Воронеж Чебоксары Якутск Рыбинск",
        order="{family} {given}",
    ),
    Tongue(
        code="tr",
        headers=("Adı Soyadı", "Doğum tarihi", "İlçe", "Maaş", "Saat"),
        naming=("Adı", "Soyadı", "Cep telefonu", "Ev adresi"),
        encodings=("cp1254", "cp857"),
        day="{d} {m} {y}",
        months="Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık",
        short="{0.day:02}.{0.month:02}.{0.year}",
        signs=(",", "."),
        money="{n} TL",
        missing=("veri yok", "bilinmiyor"),
        total="Genel toplam",
        note="Kaynak: kendi anketimiz",
        title="İlçelere göre çalışanlar",
        given="Gülşen İsmail Çağrı Özlem Işıl Şükrü Tuğba Barış",
        family="Yıldız Öztürk Çelik Şahin Doğan Kılıç Güneş Aydın",
        places="Eskişehir Muğla Çankırı Iğdır Şırnak",
    ),
    Tongue(
        code="ar",
        headers=("الاسم الكامل", "تاريخ الميلاد", "المدينة", "الراتب", "الساعات"),
        naming=("الاسم الأول", "اسم العائلة", "رقم الهاتف", "العنوان"),
        encodings=("cp1256", "iso8859_6"),
        day="{d} {m} {y}",
        months="يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر",
        short="{0.day:02}/{0.month:02}/{0.year}",
        signs=(".", ","),
        money="{n}",
        missing=("غ/م", "غير معروف"),
        total="المجموع",
        note="المصدر: مسح خاص",
        title="العاملون حسب المدينة",
        given="محمد فاطمة يوسف عائشة خالد مريم إبراهيم سعاد",
        family="الحسن الخطيب المصري النجار العلي القاسم حداد منصور",
        places="دمشق بغداد الرباط صنعاء طرابلس",
    ),
    Tongue(
        code="hi",
        headers=("पूरा नाम", "जन्म तिथि", "शहर", "वेतन", "घंटे"),
        naming=("पहला नाम", "उपनाम", "मोबाइल नंबर", "पता"),
        encodings=("utf-8", "utf-8-sig"),
        day="{d} {m} {y}",
        months="जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर",
        short="{0.day:02}-{0.month:02}-{0.year}",
        signs=(".", "indian"),
        money="₹{n}",
        missing=("अनुपलब्ध", "अज्ञात"),
        total="कुल",
        note="स्रोत: स्वयं का सर्वेक्षण",
        title="शहर के अनुसार कर्मचारी",
        given="राजेश सुनीता अमित कविता विकास नीता संजय पूजा",
        family="शर्मा वर्मा गुप्ता सिंह यादव मिश्रा जोशी पटेल",
        places="दिल्ली मुंबई लखनऊ जयपुर पटना",
    ),
    Tongue(
        code="vi",
        headers=("Họ và tên", "Ngày sinh", "Quận huyện", "Tiền lương", "Giờ"),
        naming=("Tên", "Họ và tên đệm", "Số điện thoại", "Địa chỉ"),
        encodings=("utf-8", "cp1258"),
        day="{d} {m}, {y}",
        months="tháng 1|tháng 2|tháng 3|tháng 4|tháng 5|tháng 6|tháng 7|tháng 8|tháng 9|tháng 10|tháng 11|tháng 12",
        short="{0.day:02}/{0.month:02}/{0.year}",
        signs=(",", "."),
        money="{n} ₫",
        missing=("không có", "không rõ"),
        total="Tổng cộng",
        note="Nguồn: khảo sát riêng",
        title="Lao động theo quận huyện",
        given="Hương Đức Thảo Dũng Ngọc Tuấn Phượng Quỳnh",
        family="Nguyễn Trần Phạm Hoàng Đặng Bùi Đỗ Võ",
        places="Huế Vinh Mỹ_Tho Đà_Lạt Sóc_Trăng",
        order="{family} {given}",
    ),
    Tongue(
        code="zh",
        headers=("员工姓名", "出生日期", "所在城市", "月工资", "工作小時"),
        naming=("名字", "姓氏", "手机号码", "家庭住址"),
        encodings=("gb18030", "big5"),
        day="{y}年{m}月{d}日",
        months="1 2 3 4 5 6 7 8 9 10 11 12",
        short="{0.year}/{0.month}/{0.day}",
        signs=(".", ","),
        money="¥{n}",
        missing=("无", "不详"),
        total="合计",
        note="资料来源:本单位调查",
        title="各城市职工情况",
        given="建国 淑芬 志强 秀英 伟 丽华 文杰 美玲",
        family="王 李 張 劉 陳 楊 趙 黃",
        places="北京 上海 廣州 成都 南京",
        order="{family}{given}",
    ),
    Tongue(
        code="ja",
        headers=("氏名", "生年月日", "市区町村", "月給", "時間"),
        naming=("名前", "苗字", "携帯電話", "住所"),
        encodings=("cp932", "euc_jp"),
        day="{y}年{m}月{d}日",
        months="1 2 3 4 5 6 7 8 9 10 11 12",
        short="{0.year}/{0.month:02}/{0.day:02}",
        signs=(".", ","),
        money="{n}円",
        missing=("不明", "未回答"),
        total="合計",
        note="出典:自社調査",
        title="市区町村別の従業員",
        given="太郎 花子 健一 由美 大輔 さくら 翔 美咲",
        family="佐藤 鈴木 高橋 田中 伊藤 渡辺 山本 中村",
        places="横浜市 名古屋市 札幌市 神戸市 仙台市",
        order="{family} {given}",
    ),
    Tongue(
        code="ko",
        headers=("성명", "생년월일", "시군구", "월급", "시간"),
        naming=("이름", "성씨", "휴대전화", "주소"),
        encodings=("cp949", "euc_kr"),
        day="{y}년 {m}월 {d}일",
        months="1 2 3 4 5 6 7 8 9 10 11 12",
        short="{0.year}. {0.month}. {0.day}.",
        signs=(".", ","),
        money="{n}원",
        missing=("없음", "모름"),
        total="합계",
        note="출처: 자체 조사",
        title="시군구별 근로자",
        given="민준 서연 지훈 하은 도윤 수빈 예준 지민",
        family="김 이 박 최 정 강 조 윤",
        places="수원시 청주시 전주시 창원시 포항시",
        order="{family}{given}",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A file, and the questions that its table has to pass."""

    name: str
    data: bytes
    checks: tuple[Callable[[pd.DataFrame], str], ...]


def main() -> None:
    """Make the files of all languages and count those that are read right."""
    parser = arguments(__doc__)
    parser.add_argument("--failures", action="store_true")
    parser.add_argument("--only", help="the code of one language")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    for tongue in TONGUES:
        if options.only not in (None, tongue.code):
            continue
        problems = {case.name: find_problems(case) for case in cases_of(tongue)}
        wrong = {name: found for name, found in problems.items() if found}
        lines.append((tongue.code, len(problems) - len(wrong), len(problems)))
        if options.failures:
            for name, found in wrong.items():
                print(name, *found, sep="\n  ")
    right = sum(line[1] for line in lines)
    lines.append(("all", right, sum(line[2] for line in lines)))
    table = Table.of("Read as meant", ("language", "right", "of"), lines)
    show([table], as_json=options.json)


def find_problems(case: Case) -> list[str]:
    """Return what is wrong with the reading of a file."""
    try:
        frame = read_table(case.data, case.name).frame
    except DpcoreError as error:
        return [f"refused: {error}"]
    return [problem for check in case.checks if (problem := check(frame))]


def cases_of(tongue: Tongue) -> Iterator[Case]:
    """Yield the five files of a language."""
    people = [*_people(tongue)]
    name, birth, place, pay, hours = tongue.headers
    days = [person.born.strftime("%Y-%m-%d") for person in people]
    places = [person.place for person in people]
    pays = [person.pay for person in people]
    right = (
        _has_shape(ROWS),
        _has_texts(place, places),
        _has_texts(birth, days),
        _has_numbers(pay, pays),
        _is_identifier(name),
    )

    # an old encoding, a title block, dates in words, money, a total and a source
    rows = [
        [person.name, _in_words(tongue, person), person.place, _money(tongue, person)]
        for person in people
    ]
    last = [
        [tongue.total, "", "", tongue.money.format(n=_number(tongue, sum(pays)))],
        [],
        [tongue.note],
    ]
    text = _lines([[tongue.title], [], [name, birth, place, pay], *rows, *last], ";")
    yield Case(
        name=f"{tongue.code}1.csv",
        data=_encode(text, tongue.encodings[0]),
        checks=right,
    )

    # UTF-8 with its mark, tabs, dates in digits, words for missing
    rows = [
        [
            person.name,
            tongue.short.format(person.born),
            tongue.missing[1] if number % 12 == 5 else person.place,
            tongue.missing[0] if number % 10 == 3 else _number(tongue, person.pay),
        ]
        for number, person in enumerate(people)
    ]
    holes = [
        None if number % 10 == 3 else person.pay for number, person in enumerate(people)
    ]
    text = _lines([[name, birth, place, pay], *rows], "\t")
    yield Case(
        name=f"{tongue.code}2.txt",
        data=text.encode("utf-8-sig"),
        checks=(
            _has_shape(ROWS),
            _has_texts(birth, days),
            _becomes_numbers(pay, holes),
            _is_identifier(name),
        ),
    )

    yield Case(
        name=f"{tongue.code}3.xlsx",
        data=_workbook(tongue, people),
        checks=(
            _has_shape(ROWS),
            _has_texts(place, sorted(places)),
            _has_numbers(f"2023 {pay}", [each.pay for each in _by_place(people)]),
            _is_identifier(name),
        ),
    )

    # headers that name people, in UTF-16
    given, family, phone, address = tongue.naming
    rows = [
        [
            person.given,
            person.family,
            f"0{600 + number} {55_000 + 37 * number}",
            f"{person.place} {number + 1}",
            str(20 + number % 50),
        ]
        for number, person in enumerate(people)
    ]
    text = _lines([[given, family, phone, address, hours], *rows], ",")
    yield Case(
        name=f"{tongue.code}4.csv",
        data=text.encode("utf-16"),
        checks=(
            _has_shape(ROWS),
            *map(_is_identifier, tongue.naming[:3]),
            _is_known(address),
        ),
    )

    # another encoding, blanks around cells, the header again, empty lines
    rows = [
        [f" {person.place}", person.family, f" {person.hours}"] for person in people
    ]
    header = [place, tongue.naming[1], hours]
    lines = [header, *rows[:30], ["", "", ""], header, *rows[30:], ["", "", ""]]
    yield Case(
        name=f"{tongue.code}5.csv",
        data=_encode(_lines(lines, ","), tongue.encodings[1]),
        checks=(
            _has_shape(ROWS),
            _has_texts(place, places),
            _has_numbers(hours, [float(person.hours) for person in people]),
        ),
    )


@dataclass(frozen=True, kw_only=True)
class Person:
    """An invented person of a file."""

    given: str
    family: str
    name: str
    born: pd.Timestamp
    place: str
    pay: float
    hours: int


def _people(tongue: Tongue) -> Iterator[Person]:
    givens, families = tongue.given.split(), tongue.family.split()
    places = [place.replace("_", " ") for place in tongue.places.split()]
    for number in range(ROWS):
        given = givens[number % len(givens)]
        family = families[(number // 8 + 3 * number) % len(families)]
        day = 1 + (7 * number) % 28
        yield Person(
            given=given,
            family=family,
            name=tongue.order.format(given=given, family=family),
            born=pd.Timestamp(1950 + number % 50, 1 + (5 * number) % 12, day),
            place=places[number % len(places)],
            pay=1_000 + 1_234.5 * (number % 17) + number,
            hours=20 + number % 21,
        )


def _by_place(people: Sequence[Person]) -> list[Person]:
    return sorted(people, key=lambda person: person.place)


def _in_words(tongue: Tongue, person: Person) -> str:
    parts = tongue.months.split("|") if "|" in tongue.months else tongue.months.split()
    return tongue.day.format(
        d=person.born.day, m=parts[person.born.month - 1], y=person.born.year
    )


def _number(tongue: Tongue, number: float) -> str:
    decimal, group = tongue.signs
    whole, part = f"{number:.2f}".split(".")
    if group == "indian":
        head, tail = whole[:-3], whole[-3:]
        pairs = [head[max(0, end - 2) : end] for end in range(len(head), 0, -2)]
        grouped = ",".join([*reversed(pairs), tail])
    else:
        grouped = f"{int(whole):,}".replace(",", group)
    return f"{grouped}{decimal}{part}"


def _money(tongue: Tongue, person: Person) -> str:
    return tongue.money.format(n=_number(tongue, person.pay))


def _lines(rows: Sequence[Sequence[str]], separator: str) -> str:
    def cell(text: str) -> str:
        quoted = '"' + text.replace('"', '""') + '"'
        return quoted if separator in text else text

    return "".join(separator.join(map(cell, row)) + "\r\n" for row in rows)


def _encode(text: str, encoding: str) -> bytes:
    if encoding == "cp1258":  # it holds letters and tones apart
        text = "".join(map(_with_tone_apart, text))
    return text.encode(encoding)


def _with_tone_apart(letter: str) -> str:
    apart = unicodedata.normalize("NFD", letter)
    tones = "".join(sign for sign in apart if sign in TONES)
    rest = "".join(sign for sign in apart if sign not in TONES)
    return unicodedata.normalize("NFC", rest) + tones if tones else letter


def _workbook(tongue: Tongue, people: Sequence[Person]) -> bytes:
    """A hidden list of codes, a title, two lines of names, merged cells, a total."""
    name, _, place, pay, hours = tongue.headers
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out)
    codes = book.add_worksheet("1")
    codes.hide()
    for row, person in enumerate(people):
        codes.write_row(row, 0, [row, person.place])
    sheet = book.add_worksheet("2")
    sheet.activate()
    sheet.set_first_sheet()
    sheet.write_string(0, 0, tongue.title)
    sheet.write_row(2, 0, ["", "", "2023", "", "2024", ""])
    sheet.merge_range(2, 2, 2, 3, "2023")
    sheet.merge_range(2, 4, 2, 5, "2024")
    sheet.write_row(3, 0, [place, name, pay, hours, pay, hours])
    row = 4
    sorted_people = _by_place(people)
    for where in dict.fromkeys(person.place for person in sorted_people):
        inside = [person for person in sorted_people if person.place == where]
        sheet.merge_range(row, 0, row + len(inside) - 1, 0, where)
        for person in inside:
            numbers = [person.pay, person.hours, person.pay + 10, person.hours]
            sheet.write_row(row, 1, [person.name, *numbers])
            row += 1
    sheet.write_row(row, 0, [tongue.total, "", sum(person.pay for person in people)])
    sheet.write_string(row + 2, 0, tongue.note)
    book.close()
    return out.getvalue()


Check = Callable[[pd.DataFrame], str]


def _has_shape(rows: int) -> Check:
    def check(frame: pd.DataFrame) -> str:
        return "" if len(frame) == rows else f"{len(frame)} rows, not {rows}"

    return check


def _has_texts(name: str, texts: Sequence[str]) -> Check:
    def check(frame: pd.DataFrame) -> str:
        if _plain(name) not in map(_plain, frame.columns):
            return f"no column {name}: {list(frame.columns)}"
        column = frame[next(each for each in frame if _plain(each) == _plain(name))]
        wrong = [
            (cell, text)
            for cell, text in zip(map(str, column), texts, strict=False)
            if _plain(cell) != _plain(text)
        ]
        return f"{name}: {wrong[0]}, {len(wrong)} cells" if wrong else ""

    return check


def _has_numbers(name: str, numbers: Sequence[float | None]) -> Check:
    def check(frame: pd.DataFrame) -> str:
        if name not in frame:
            return f"no column {name}: {list(frame.columns)}"
        column = pd.to_numeric(frame[name], errors="coerce")
        pairs = zip(frame[name], column, numbers, strict=False)
        wrong = [
            (text, number)
            for text, cell, number in pairs
            if pd.isna(cell) != (number is None)
            or (number is not None and abs(cell - number) > 1e-6)
        ]
        return f"{name}: {wrong[0]}, {len(wrong)} cells" if wrong else ""

    return check


def _becomes_numbers(name: str, numbers: Sequence[float | None]) -> Check:
    """The proposal takes the column for numbers, and what is missing for missing."""

    def check(frame: pd.DataFrame) -> str:
        problem = _has_numbers(name, numbers)(frame)
        if problem:
            return problem
        kinds = {column.name: column for column in suggest_schema(frame).columns}
        if name not in kinds or kinds[name].kind not in ("real", "integer"):
            return f"{name} is proposed as {kinds.get(name)}"
        return "" if kinds[name].missing else f"{name} has no cell for missing"

    return check


def _is_known(name: str) -> Check:
    """An address may be made coarser, so it is a quasi-identifier too."""

    def check(frame: pd.DataFrame) -> str:
        roles = {role.column: role.role for role in suggest_roles(frame)}
        is_known = roles.get(name) in ("identifier", "quasi-identifier")
        return "" if is_known else f"{name}: {roles.get(name)}"

    return check


def _is_identifier(name: str) -> Check:
    def check(frame: pd.DataFrame) -> str:
        roles = {role.column: role.role for role in suggest_roles(frame)}
        return "" if roles.get(name) == "identifier" else f"{name}: {roles.get(name)}"

    return check


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", str(text))


if __name__ == "__main__":
    main()
