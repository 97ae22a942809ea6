//! Pages in the encodings of the Web before UTF-8, from their bytes to their documents.

use corpora_tests::harness::{Lab, SourceToml, warc_answer};
use encoding_rs::{EncoderResult, Encoding};

const LATIN: &str = "Der Fährmann grüßt, weil im Mai über dem Fluß schon früh die Vögel singen";
const BALTIC: &str = "Ąžuolas prie upės žydi vėlai, o šaltinis šalia jo niekada neužšąla";
const CENTRAL: &str = "Źródło bije pod dębem, a nad nim śpiewają ptaki, gdy tylko wstanie świt";
const CYRILLIC: &str = "Паром уходит в шесть, прежде чем поднимется туман, и только колокол говорит, где пристань";
const GREEK: &str = "Το πλοίο φεύγει στις έξι, πριν σηκωθεί η ομίχλη, και μόνο η καμπάνα λέει πού είναι η προβλήτα";
const HEBREW: &str = "המעבורת יוצאת בשש לפני שהערפל מתרומם ורק הפעמון אומר היכן המזח";
const ARABIC: &str = "تغادر العبارة في السادسة قبل أن يرتفع الضباب ولا يدل على الرصيف إلا الجرس";
const THAI: &str = "เรือข้ามฟากออกตอนหกโมงก่อนที่หมอกจะจาง";
const TURKISH: &str =
    "Vapur altıda kalkar, sis dağılmadan önce, ve iskelenin yerini yalnız çan söyler; gece ışığı yoktur";
const VIETNAMESE: &str = "Chuyến phà rời bến lúc sáu giờ";
const JAPANESE: &str = "渡し船は霧が晴れる前の六時に出て、桟橋の場所は鐘だけが教えてくれる";
const CHINESE: &str = "渡船六点离开，那时雾还没有散，只有钟声告诉人们码头在哪里";
const TRADITIONAL: &str = "渡船六點離開，那時霧還沒有散，只有鐘聲告訴人們碼頭在哪裡";
const KOREAN: &str = "나룻배는 안개가 걷히기 전 여섯 시에 떠나고 종만이 부두가 어디인지 알려 준다";

/// Labels of legacy encodings (WHATWG Encoding Standard), each with words that it can spell.
const ENCODINGS: [(&str, &str); 24] = [
    ("iso-8859-1", LATIN),
    ("windows-1252", LATIN),
    ("macintosh", LATIN),
    ("iso-8859-15", LATIN),
    ("iso-8859-2", CENTRAL),
    ("windows-1250", CENTRAL),
    ("iso-8859-13", BALTIC),
    ("windows-1257", BALTIC),
    ("windows-1251", CYRILLIC),
    ("koi8-r", CYRILLIC),
    ("iso-8859-5", CYRILLIC),
    ("ibm866", CYRILLIC),
    ("windows-1253", GREEK),
    ("iso-8859-7", GREEK),
    ("windows-1254", TURKISH),
    ("windows-1255", HEBREW),
    ("windows-1256", ARABIC),
    ("windows-874", THAI),
    ("shift_jis", JAPANESE),
    ("euc-jp", JAPANESE),
    ("iso-2022-jp", JAPANESE),
    ("gb18030", CHINESE),
    ("big5", TRADITIONAL),
    ("euc-kr", KOREAN),
];

/// The bytes of a text in an encoding that can spell all of it.
fn encoded(label: &str, text: &str) -> Vec<u8> {
    let encoding = Encoding::for_label(label.as_bytes()).unwrap();
    let mut encoder = encoding.new_encoder();
    let most = encoder.max_buffer_length_from_utf8_without_replacement(text.len()).unwrap();
    let mut bytes = Vec::with_capacity(most);
    let (result, _) = encoder.encode_from_utf8_to_vec_without_replacement(text, &mut bytes, true);
    assert_eq!(result, EncoderResult::InputEmpty, "{label} spells all of it");
    bytes
}

/// A page of these words, with something in its head.
fn page(head: &str, words: &str) -> String {
    format!(
        "<html><head>{head}<title>A page</title></head><body><main><p>{words}.</p><p>{words}!</p></main></body></html>"
    )
}

#[test]
fn twenty_legacy_encodings_reach_the_documents() {
    let mut archive = Vec::new();
    let mut expected = Vec::new();
    for (label, words) in ENCODINGS {
        let text = format!("{words}.\n\n{words}!");
        let header = format!("text/html; charset={label}");
        for (content_type, head) in [
            (header.as_str(), String::new()),
            ("text/html", format!("<meta charset=\"{label}\">")),
            ("text/html", format!("<meta http-equiv=Content-Type content='text/html; charset={label}'>")),
        ] {
            let body = encoded(label, &page(&head, words));
            let url = format!("https://old.example/{label}/{}", expected.len());
            archive.extend(warc_answer(&url, "200 OK", content_type, &body));
            expected.push((url, text.clone(), Encoding::for_label(label.as_bytes()).unwrap().name()));
        }
    }
    for (label, bytes) in [
        ("UTF-16LE", [vec![0xff, 0xfe], utf16(CYRILLIC, u16::to_le_bytes)].concat()),
        ("UTF-16BE", [vec![0xfe, 0xff], utf16(CYRILLIC, u16::to_be_bytes)].concat()),
        ("UTF-8", [b"\xef\xbb\xbf".to_vec(), page("", CYRILLIC).into_bytes()].concat()),
        ("UTF-8", page("", VIETNAMESE).into_bytes()),
    ] {
        let (words, url) =
            (if bytes.len() < 300 { VIETNAMESE } else { CYRILLIC }, format!("https://old.example/{}", expected.len()));
        archive.extend(warc_answer(&url, "200 OK", "text/html", &bytes));
        expected.push((url, format!("{words}.\n\n{words}!"), label));
    }
    let lab = Lab::new();
    lab.work.place("old.warc", &archive);
    let _ = lab.build_config(SourceToml::new("old", "old.warc", &archive).with("format", "warc")).exits(0);
    let documents = lab.work.documents("old");
    assert_eq!(documents.len(), expected.len());
    for (document, (url, text, charset)) in documents.iter().zip(&expected) {
        assert_eq!((&document.url, &document.text), (url, text));
        assert_eq!(document.meta["charset"], *charset, "{url}");
    }
}

fn utf16(words: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    page("", words).encode_utf16().flat_map(bytes).collect()
}
