//! Enums that stand in files as words.

/// Declares an enum whose variants are written as the given words, with the list of them for rules and messages.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $word)] $variant,)+ }

        impl $name {
            /// Every word, in the order documented.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word as it stands in files.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// The variant that is written as this word.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::config::check::Typed for $name {
            fn typed(checked: $crate::config::check::Checked) -> Option<Self> {
                Self::from_word(&String::typed(checked)?)
            }
        }
    };
}

pub(in crate::config) use words;
