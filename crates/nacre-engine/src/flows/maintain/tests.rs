//! A store that is maintained, over time and beside people.
