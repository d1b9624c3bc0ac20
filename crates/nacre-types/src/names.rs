//! The `names` macro, which defines fieldless enums whose variants have fixed names in JSON, files,
//! commands and output.

/// An enum defined by [`names`], for use in generic code.
pub trait Names: Copy + 'static {
    /// All values in display order.
    const ALL: &'static [Self];

    /// The name in JSON.
    fn as_str(self) -> &'static str;

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.as_str() == name)
    }
}

/// Defines enums from a table of variants and their names. Serde uses the same names.
macro_rules! names {
    ($(
        $(#[$meta:meta])*
        pub enum $type:ident { $($(#[$variant_meta:meta])* $variant:ident = $name:literal),+ $(,)? }
    )+) => {$(
        $(#[$meta])*
        #[derive(
            Clone,
            Copy,
            Debug,
            PartialEq,
            Eq,
            PartialOrd,
            Ord,
            Hash,
            serde::Serialize,
            serde::Deserialize,
            schemars::JsonSchema,
        )]
        pub enum $type { $($(#[$variant_meta])* #[serde(rename = $name)] $variant),+ }

        impl $type {
            pub const ALL: [Self; [$(Self::$variant),+].len()] = [$(Self::$variant),+];

            pub const NAMES: &[&str] = &[$($name),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            pub fn from_name(name: &str) -> Option<Self> {
                <Self as $crate::Names>::from_name(name)
            }
        }

        impl $crate::Names for $type {
            const ALL: &'static [Self] = &Self::ALL;

            fn as_str(self) -> &'static str {
                self.as_str()
            }
        }

        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(name: &str) -> Result<Self, String> {
                Self::from_name(name).ok_or_else(|| format!("use one of {:?}", Self::NAMES))
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )+};
}

/// Implements the `String` conversions that serde uses for types represented as strings in JSON.
#[macro_export]
macro_rules! text_in_json {
    ($($type:ty),+) => {$(
        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }

        impl TryFrom<String> for $type {
            type Error = <Self as std::str::FromStr>::Err;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }
    )+};
}
