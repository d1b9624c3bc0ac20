//! What is indexed: records, and the units they come in.
//!
//! The index knows no memories and no traces. A unit is whatever changes as a whole (a memory's file, a
//! session of a trace); its records are what is found (the memory, a message), in their order.

/// The facet of a record that should have evidence and has none. It has no value: having it says it all.
pub(super) const UNPROVEN: &str = "unproven";

/// The facet of a record that says in which situations it should be told. It has no value either.
pub(super) const DESCRIBED: &str = "described";

/// The texts of a record, by what a word in them is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Title,
    Tags,
    Body,
    Quotes,
}

/// How many fields a record has.
pub(super) const N_FIELDS: usize = 4;

impl Field {
    pub(super) const ALL: [Self; N_FIELDS] = [Self::Title, Self::Tags, Self::Body, Self::Quotes];
}

/// Who speaks in a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Voice {
    /// A memory, or a message whose speaker does not matter.
    #[default]
    None,
    /// The person.
    User,
    Assistant,
    /// The output of a tool.
    Tool,
}

/// How far a record still holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    #[default]
    Active,
    /// Proposed, not confirmed.
    Candidate,
    Stale,
    /// A newer one took its place.
    Superseded,
    Archived,
}

/// How one record points at another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkKind {
    Related,
    Supersedes,
    SupersededBy,
    Contradicts,
}

/// A pointer to the record named `to`, which may not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub kind: LinkKind,
    pub to: String,
}

/// The property that says which project a record belongs to, and so who may read it.
pub(super) const PROJECT: &str = "project";

/// One thing that can be found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// Unique in its index.
    pub key: String,
    pub title: String,
    pub tags: String,
    pub body: String,
    pub quotes: String,
    /// Exact properties to filter by and to see kinship in, as (`name`, `value`).
    pub facets: Vec<(&'static str, String)>,
    /// When it was said or last confirmed, in milliseconds; 0 when nobody knows.
    pub time_ms: i64,
    pub voice: Voice,
    /// The speaker's name, where speakers have names.
    pub speaker: String,
    pub standing: Standing,
    /// From 0 to 1.
    pub confidence: f32,
    pub links: Vec<Link>,
}

impl Record {
    pub(super) fn field(&self, field: Field) -> &str {
        match field {
            Field::Title => &self.title,
            Field::Tags => &self.tags,
            Field::Body => &self.body,
            Field::Quotes => &self.quotes,
        }
    }

    /// What the embedding sees: what the record is about before what it says.
    pub(super) fn embedded_text(&self) -> String {
        let parts = [&self.title, &self.tags, &self.body, &self.quotes];
        let parts: Vec<&str> =
            parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        parts.join("\n")
    }
}

/// Tells whether a unit is still what was indexed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    /// Changes whenever the unit may have changed; 0 is never trusted.
    pub stamp: u64,
    /// The same for what stands beside the unit.
    pub side: u64,
    /// Changes only with the content; settles a doubt without work.
    pub content: u64,
}

/// Records that change together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unit {
    /// Unique in its index: a path, a session's key.
    pub key: String,
    pub fingerprint: Fingerprint,
    pub records: Vec<Record>,
}

/// The numbers under which these stand in a file or a table.
macro_rules! coded {
    ($name:ident { $($variant:ident = $code:literal),* $(,)? }) => {
        impl $name {
            /// The number that stands for it.
            pub fn code(self) -> u8 {
                match self { $(Self::$variant => $code),* }
            }

            /// What stands under this number; an unknown one reads as the first.
            pub fn from_code(code: u8) -> Self {
                match code { $($code => Self::$variant,)* _ => Self::first() }
            }
        }
    };
}

coded!(Voice { None = 0, User = 1, Assistant = 2, Tool = 3 });
coded!(Standing { Active = 0, Candidate = 1, Stale = 2, Superseded = 3, Archived = 4 });
coded!(LinkKind { Related = 0, Supersedes = 1, SupersededBy = 2, Contradicts = 3 });

impl Voice {
    fn first() -> Self {
        Self::None
    }
}

impl Standing {
    fn first() -> Self {
        Self::Active
    }
}

impl LinkKind {
    fn first() -> Self {
        Self::Related
    }
}
