//! Macros for enums that are stored as words, for types that wrap a string, and for `Debug`.

/// Defines enums whose variants are represented by the same word in serde, `as_str`, `parse` and
/// `FromStr`.
#[macro_export]
macro_rules! words {
    ($($(#[$meta:meta])* $name:ident {
        $($(#[$word_meta:meta])* $variant:ident = $word:literal),+ $(,)?
    })+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$word_meta])* #[serde(rename = $word)] $variant),+
        }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant),+];
            pub const NAMES: &[&str] = &[$($word),+];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.as_str() == word)
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(word: &str) -> Result<Self, String> {
                Self::parse(word).ok_or_else(|| format!("use one of {:?}", Self::NAMES))
            }
        }
    )+};
}

/// Implements `Debug` for a type with fields that are secret or cannot be printed. Prints only the
/// named fields.
#[macro_export]
macro_rules! debug_only {
    ($type:ident { $($field:ident),* }) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($type))
                    $(.field(stringify!($field), &self.$field))*
                    .finish_non_exhaustive()
            }
        }
    };
}

/// Implements `as_str` and `Display` for a type that wraps a string.
#[macro_export]
macro_rules! text_type {
    ($type:ident) => {
        impl $type {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}
