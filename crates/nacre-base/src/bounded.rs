//! Deserializes lists from untrusted input with an upper bound on their length.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Deserializes a list with at most `MOST` elements. A longer list is rejected without reading the
/// rest of it.
pub fn at_most<'de, D, T, const MOST: usize>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_seq(Bounded::<T, MOST>(PhantomData))
}

struct Bounded<T, const MOST: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Bounded<T, MOST> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MOST}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut read = Vec::new();
        while let Some(element) = list.next_element()? {
            if read.len() == MOST {
                return Err(Error::custom(format_args!("the list has more than {MOST} elements")));
            }
            read.push(element);
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static N_READ: Cell<usize> = const { Cell::new(0) };
    }

    struct Counted;

    impl<'de> Deserialize<'de> for Counted {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            N_READ.set(N_READ.get() + 1);
            u8::deserialize(deserializer).map(|_| Self)
        }
    }

    #[test]
    fn nothing_is_read_after_the_element_that_is_one_too_many() {
        let read = |n: usize| {
            N_READ.set(0);
            let text = format!("[{}]", vec!["1"; n].join(","));
            let mut deserializer = serde_json::Deserializer::from_str(&text);
            let list = at_most::<_, Counted, 3>(&mut deserializer).map(|list| list.len());
            (list.map_err(|error| error.to_string()), N_READ.get())
        };
        assert_eq!(read(3), (Ok(3), 3));
        let (list, n_read) = read(1_000);
        assert!(list.unwrap_err().starts_with("the list has more than 3 elements"));
        assert_eq!(n_read, 4);
    }
}
