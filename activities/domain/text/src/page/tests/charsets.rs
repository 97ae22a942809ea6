use encoding_rs::Encoding;

use super::*;

/// Encodings of the Web before UTF-8, with words of a language that was written in each.
const LEGACY: [(&str, &str); 22] = [
    ("windows-1252", "Die Mühle am großen Fluß gehört früher dem Müller, und täglich fährt die Fähre über das Wehr."),
    ("windows-1250", "Młyn nad rzeką należał dawniej do młynarza, a jaz był naprawiany każdej zimy przez cieśli."),
    ("windows-1251", "Мельница на реке принадлежала раньше мельнику, и плотину чинили каждую зиму."),
    ("windows-1253", "Ο μύλος στο ποτάμι ανήκε παλιά στον μυλωνά και το φράγμα επισκευαζόταν κάθε χειμώνα."),
    ("windows-1254", "Nehirdeki değirmen eskiden değirmenciye aitti ve bent her kış onarılırdı, çünkü ağaç şişerdi."),
    ("windows-1255", "הטחנה על הנהר הייתה שייכת פעם לטוחן והסכר תוקן בכל חורף"),
    ("windows-1256", "كانت الطاحونة على النهر ملكا للطحان وكان السد يصلح كل شتاء"),
    ("windows-1257", "Malūnas prie upės seniau priklausė malūnininkui, o užtvanka buvo taisoma kiekvieną žiemą."),
    ("windows-1258", "Cai nha may xay bên sông, đươc sưa môi mua đông, va ăn bâng gô"),
    ("windows-874", "โรงสีริมแม่น้ำเคยเป็นของคนสี และฝายได้รับการซ่อมแซมทุกฤดูหนาว"),
    ("ISO-8859-2", "Mlýn na řece patřil dříve mlynáři a jez byl opravován každou zimu, protože dřevo bobtnalo."),
    ("ISO-8859-5", "Мельница на реке принадлежала раньше мельнику, и плотину чинили каждую зиму."),
    ("ISO-8859-7", "Ο μύλος στο ποτάμι ανήκε παλιά στον μυλωνά και το φράγμα επισκευαζόταν κάθε χειμώνα."),
    (
        "ISO-8859-15",
        "Le moulin près de la rivière était à vendre pour mille €, et l'œuvre du charpentier tenait encore.",
    ),
    ("KOI8-R", "Мельница на реке принадлежала раньше мельнику, и плотину чинили каждую зиму."),
    ("KOI8-U", "Млин на річці належав колись мельникові, і греблю лагодили щозими, їхали звідусіль."),
    ("macintosh", "Die Mühle am großen Fluß gehört früher dem Müller, und täglich fährt die Fähre über das Wehr."),
    ("Shift_JIS", "川沿いの水車小屋は昔は粉屋のもので、堰は毎年冬に直されていた。"),
    ("EUC-JP", "川沿いの水車小屋は昔は粉屋のもので、堰は毎年冬に直されていた。"),
    ("EUC-KR", "강가의 물레방아는 예전에 방앗간 주인의 것이었고 보는 겨울마다 수리되었다."),
    ("GBK", "河边的磨坊从前属于磨坊主，堤坝每年冬天都要修理。㎡镕"),
    ("Big5", "河邊的磨坊從前屬於磨坊主，堤壩每年冬天都要修理。"),
];

fn encoded(label: &str, text: &str) -> Vec<u8> {
    let encoding = Encoding::for_label(label.as_bytes()).expect("a known label");
    let (bytes, _, is_lossy) = encoding.encode(text);
    assert!(!is_lossy, "{label} lacks a letter of {text}");
    bytes.into_owned()
}

#[test]
fn a_declared_encoding_is_read_back() {
    for (label, words) in LEGACY {
        let page = |head: &str| {
            format!("<html><head>{head}<title>x</title></head><body><p>{words}</p><p>{words}</p></body></html>")
        };
        for head in [
            format!("<meta charset={label}>"),
            format!("<meta charset=\"{}\">", label.to_lowercase()),
            format!("<META content='text/html; charset={label}' HTTP-EQUIV=Content-Type>"),
            format!("<!-- <meta charset=utf-8> --><meta charset='{label}' />"),
        ] {
            let decoded = decode(&encoded(label, &page(&head)), None, 1 << 20).text.into_owned();
            assert_eq!(decoded, page(&head));
        }
        let header = format!("text/html;charset=\"{label}\"");
        let bytes = encoded(label, &page("<meta charset=utf-8>"));
        let decoded = decode(&bytes, Some(&header), 1 << 20);
        assert_eq!((&*decoded.text, decoded.evidence), (&*page("<meta charset=utf-8>"), Evidence::Header));
    }
}

#[test]
fn an_undeclared_encoding_is_found() {
    // What a detector cannot tell apart from its neighbour, or answers never, is not asked for here.
    let is_asked = |label: &str| !matches!(label, "windows-1258" | "macintosh" | "ISO-8859-15" | "ISO-8859-2");
    let mut right = 0;
    let asked: Vec<_> = LEGACY.iter().filter(|(label, _)| is_asked(label)).collect();
    for (label, words) in &asked {
        let page = format!("<p>{words}</p>").repeat(3);
        right += usize::from(decode(&encoded(label, &page), None, 1 << 20).text == page);
    }
    assert!(right + 2 >= asked.len(), "{right} of {}", asked.len());
}

#[test]
fn evidence_counts_in_its_order() {
    let choice = |bytes: &[u8], header: Option<&str>| {
        let decoded = decode(bytes, header, 1 << 20);
        (decoded.charset, decoded.evidence)
    };
    let latin = "text/html; charset=iso-8859-1";
    assert_eq!(choice(b"\xef\xbb\xbf<meta charset=gbk>\xc3\xa9", Some(latin)), ("UTF-8", Evidence::ByteOrderMark));
    assert_eq!(choice(b"\xff\xfe<\0p\0>\0", Some(latin)), ("UTF-16LE", Evidence::ByteOrderMark));
    assert_eq!(choice(b"<meta charset=koi8-r>\xe9", Some(latin)), ("windows-1252", Evidence::Header));
    assert_eq!(choice(b"<meta charset=koi8-r>\xe9", Some("text/html")), ("KOI8-R", Evidence::Page));
    assert_eq!(choice("<p>früher".as_bytes(), None), ("UTF-8", Evidence::Valid));
    assert_eq!(choice(b"<p>plain", None), ("UTF-8", Evidence::Valid));
    assert_eq!(choice(b"<?xml version='1.0' encoding='iso-8859-1'?>\xe9", None), ("windows-1252", Evidence::Page));
    assert_eq!(choice(b"<meta charset=utf-16>", None), ("UTF-8", Evidence::Page));
    assert_eq!(choice(b"<\0p\0>\0x\0", None), ("UTF-16LE", Evidence::Detected));
    assert_eq!(choice(b"<meta charset=no-such-thing>x", None), ("UTF-8", Evidence::Valid));
}

#[test]
fn a_declaration_that_the_bytes_refute_does_not_count() {
    let german = "<meta charset=utf-8><p>Die Mühle gehört früher dem Müller, und täglich fährt die Fähre.</p>";
    let decoded = decode(&encoded("windows-1252", german), None, 1 << 20).into_owned_text();
    assert_eq!(decoded, german);
    // One broken letter in much UTF-8 is a broken letter.
    let mut bytes = "ä".repeat(200).into_bytes();
    bytes.push(0xff);
    let decoded = decode(&bytes, Some("text/html; charset=utf-8"), 1 << 20);
    assert_eq!((decoded.charset, decoded.is_malformed), ("UTF-8", true));
}

#[test]
fn a_limit_cuts_between_letters() {
    let bytes = "<p>ää".as_bytes();
    let decoded = decode(bytes, None, bytes.len() - 1);
    assert_eq!((&*decoded.text, decoded.bytes_cut, decoded.charset), ("<p>ä", 1, "UTF-8"));
}

impl Decoded<'_> {
    fn into_owned_text(self) -> String {
        self.text.into_owned()
    }
}

#[test]
fn wide_characters_need_no_mark() {
    let page = "<html><p>Mühle</p></html>";
    let units: Vec<u16> = page.encode_utf16().collect();
    let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    for (bytes, charset) in [(little, "UTF-16LE"), (big, "UTF-16BE")] {
        let decoded = decode(&bytes, None, 1 << 20);
        assert_eq!((&*decoded.text, decoded.charset, decoded.evidence), (page, charset, Evidence::Detected));
    }
}

#[test]
fn a_broken_byte_in_undeclared_utf_8_is_a_broken_byte() {
    let mut bytes = "Mühle und Brücke, ".repeat(40).into_bytes();
    bytes.push(0xff);
    let decoded = decode(&bytes, None, 1 << 20);
    assert_eq!((decoded.charset, decoded.evidence, decoded.is_malformed), ("UTF-8", Evidence::Valid, true));
}
