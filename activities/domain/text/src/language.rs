//! The language of a text, identified from its letters.
//!
//! Chosen by measurement (`bench/language/README.md`): `whatlang` knows 70 languages and is right from some 400
//! characters on. On short texts it is wrong more often than it seems; there a second opinion counts, that of
//! `whichlang`, which knows 16 of them and costs next to nothing.
//!
//! What it cannot tell: Serbian in Latin letters counts as Croatian, Nynorsk as one of its neighbours, and a language
//! that is not among the 70 is `und` or the most similar one. A text in several languages counts as one of them.

use std::borrow::Cow;

use whatlang::Lang;

/// The form of identification, to be raised with every change of what [`language`] answers for any text.
pub const VERSION: u32 = 2;

/// At most so many characters of a text are looked at: more cost more than they tell.
pub const MOST_CHARACTERS: usize = 600;

/// An answer of less confidence (0 to 1) counts only with a second opinion that agrees.
const SURE: f64 = 0.3;

/// A language as an ISO 639 code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Language(&'static str);

impl Language {
    /// The language cannot be told: `und`, as ISO 639-2 has it.
    pub const UNDETERMINED: Self = Self("und");

    /// The ISO 639-1 code, or the ISO 639-3 code of a language that has none.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

/// Identifies the language of a text; the same text gets the same answer everywhere.
///
/// A text without letters is [`Language::UNDETERMINED`], and so is one whose language is a guess.
#[must_use]
pub fn language(text: &str) -> Language {
    let sample = sample(text);
    // Some signs are in the alphabet of one language alone, such as the middle dot in Catalan.
    if !sample.contains(char::is_alphabetic) {
        return Language::UNDETERMINED;
    }
    let Some(found) = whatlang::detect(&sample) else { return Language::UNDETERMINED };
    let is_sure = found.confidence() >= SURE || agrees(&sample, found.lang());
    if is_sure { Language(code(found.lang())) } else { Language::UNDETERMINED }
}

fn agrees(sample: &str, lang: Lang) -> bool {
    whichlang::detect_language(sample).three_letter_code() == lang.code()
}

/// The start, the middle and the end of a long text: its start alone may be a notice in another language.
fn sample(text: &str) -> Cow<'_, str> {
    if text.chars().nth(MOST_CHARACTERS).is_none() {
        return Cow::Borrowed(text);
    }
    let piece = |from: usize| {
        let rest = &text[text.ceil_char_boundary(from)..];
        rest.char_indices().nth(MOST_CHARACTERS / 3).map_or(rest, |(end, _)| &rest[..end])
    };
    // A piece at the end is as long as the first one in bytes: scripts seldom change that much on the way.
    let first = piece(0);
    let pieces = [first, piece((text.len() - first.len()) / 2), piece(text.len() - first.len())];
    Cow::Owned(pieces.join("\n"))
}

/// ISO 639-1, which all of these languages have.
fn code(lang: Lang) -> &'static str {
    match lang {
        Lang::Epo => "eo",
        Lang::Eng => "en",
        Lang::Rus => "ru",
        Lang::Cmn => "zh",
        Lang::Spa => "es",
        Lang::Por => "pt",
        Lang::Ita => "it",
        Lang::Ben => "bn",
        Lang::Fra => "fr",
        Lang::Deu => "de",
        Lang::Ukr => "uk",
        Lang::Kat => "ka",
        Lang::Ara => "ar",
        Lang::Hin => "hi",
        Lang::Jpn => "ja",
        Lang::Heb => "he",
        Lang::Yid => "yi",
        Lang::Pol => "pl",
        Lang::Amh => "am",
        Lang::Jav => "jv",
        Lang::Kor => "ko",
        Lang::Nob => "nb",
        Lang::Dan => "da",
        Lang::Swe => "sv",
        Lang::Fin => "fi",
        Lang::Tur => "tr",
        Lang::Nld => "nl",
        Lang::Hun => "hu",
        Lang::Ces => "cs",
        Lang::Ell => "el",
        Lang::Bul => "bg",
        Lang::Bel => "be",
        Lang::Mar => "mr",
        Lang::Kan => "kn",
        Lang::Ron => "ro",
        Lang::Slv => "sl",
        Lang::Hrv => "hr",
        Lang::Srp => "sr",
        Lang::Mkd => "mk",
        Lang::Lit => "lt",
        Lang::Lav => "lv",
        Lang::Est => "et",
        Lang::Tam => "ta",
        Lang::Vie => "vi",
        Lang::Urd => "ur",
        Lang::Tha => "th",
        Lang::Guj => "gu",
        Lang::Uzb => "uz",
        Lang::Pan => "pa",
        Lang::Aze => "az",
        Lang::Ind => "id",
        Lang::Tel => "te",
        Lang::Pes => "fa",
        Lang::Mal => "ml",
        Lang::Ori => "or",
        Lang::Mya => "my",
        Lang::Nep => "ne",
        Lang::Sin => "si",
        Lang::Khm => "km",
        Lang::Tuk => "tk",
        Lang::Aka => "ak",
        Lang::Zul => "zu",
        Lang::Sna => "sn",
        Lang::Afr => "af",
        Lang::Lat => "la",
        Lang::Slk => "sk",
        Lang::Cat => "ca",
        Lang::Tgl => "tl",
        Lang::Hye => "hy",
        Lang::Cym => "cy",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A sentence or two each, from the Universal Declaration of Human Rights, article 1.
    const ARTICLE_1: &[(&str, &str)] = &[
        ("ar", "يولد جميع الناس أحراراً متساوين في الكرامة والحقوق، وقد وهبوا عقلاً وضميراً"),
        ("cs", "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv."),
        ("de", "Alle Menschen sind frei und gleich an Würde und Rechten geboren."),
        ("el", "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα."),
        ("en", "All human beings are born free and equal in dignity and rights."),
        ("es", "Todos los seres humanos nacen libres e iguales en dignidad y derechos."),
        ("fi", "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan."),
        ("fr", "Tous les êtres humains naissent libres et égaux en dignité et en droits."),
        ("he", "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם."),
        ("hu", "Minden emberi lény szabadon születik és egyenlő méltósága és joga van."),
        ("it", "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti."),
        ("ja", "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。"),
        ("ko", "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다."),
        ("nl", "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren."),
        ("pl", "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw."),
        ("pt", "Todos os seres humanos nascem livres e iguais em dignidade e em direitos."),
        ("ru", "Все люди рождаются свободными и равными в своем достоинстве и правах."),
        ("sv", "Alla människor är födda fria och lika i värde och rättigheter."),
        ("tr", "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar."),
        ("uk", "Всі люди народжуються вільними і рівними у своїй гідності та правах."),
        ("vi", "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi."),
        ("zh", "人人生而自由，在尊严和权利上一律平等。"),
    ];

    #[test]
    fn every_language_has_a_code_of_its_own() {
        let mut codes: Vec<&str> = Lang::all().iter().map(|&lang| code(lang)).collect();
        let well_formed = |code: &&str| code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_lowercase());
        assert!(codes.iter().all(well_formed), "{codes:?}");
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), Lang::all().len());
    }

    #[test]
    fn sentences_are_told_apart() {
        for (lang, text) in ARTICLE_1 {
            assert_eq!(language(text).as_str(), *lang, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_told_is_undetermined() {
        for text in ["", " \n", "12345", "!?", "·", "1 + 1 = 2", "🎉🎉", "xx", "ok", "fn main() { println!(\"hi\"); }"]
        {
            assert_eq!(language(text), Language::UNDETERMINED, "{text:?}");
        }
    }

    #[test]
    fn a_notice_before_a_long_text_does_not_decide() {
        let notice = "This text is in the public domain. You may copy it and give it away. ".repeat(4);
        for (lang, text) in ARTICLE_1 {
            assert_eq!(language(&(notice.clone() + &text.repeat(100))).as_str(), *lang);
        }
    }

    #[test]
    fn only_so_much_of_a_text_is_looked_at() {
        for (_, text) in ARTICLE_1 {
            let long = text.repeat(1000);
            let looked_at = sample(&long).chars().count();
            assert!((MOST_CHARACTERS * 9 / 10..=MOST_CHARACTERS + 2).contains(&looked_at), "{looked_at} of {text}");
            assert_eq!(sample(text), *text);
        }
    }

    proptest! {
        #[test]
        fn every_text_has_an_answer_of_two_letters_or_none(text in "(.|[а-я]{9}|[a-z ]{200}|[ぁ-ん]{300}){0,20}") {
            let answer = language(&text);
            prop_assert_eq!(answer, language(&text));
            prop_assert!(answer == Language::UNDETERMINED || answer.as_str().len() == 2);
            prop_assert!(answer == Language::UNDETERMINED || text.contains(char::is_alphabetic));
        }
    }
}
