//! What a parser does with memory, counted: a place with `unsafe`.
//!
//! A parser reports after so many of its steps, and one step at a place where it has lost its way can cost as much as the text is
//! long. What it does there is to make nodes and drop them again, which it hardly does in real code. So its allocations are
//! counted, on the thread that makes them, and passed on to the C library. The same text always leads to the same numbers.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Once;

use tree_sitter::Allocator;

/// A larger piece of memory counts as several: it is copied as a whole.
const BYTES_PER_UNIT: usize = 4_096;

/// Pieces of this size are the places of a parser's stack; hardly anything else is as large and no larger.
const STACK_BYTES: std::ops::RangeInclusive<usize> = 225..=256;

/// What the parsers of this thread did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Pieces of memory that were taken and given back.
    pub(super) n_dropped: usize,
    /// Pieces that are in use, more or less than at the beginning.
    pub(super) n_held: isize,
    /// Places on the stack. What is not closed yet stays there, and one step may go through all of it many times.
    pub(super) n_stacked: isize,
}

thread_local! {
    static COUNTS: Cell<Counts> = const { Cell::new(Counts { n_dropped: 0, n_held: 0, n_stacked: 0 }) };
}

/// Begins to count, for all threads. Whoever uses a parser or a grammar calls this first.
pub(super) fn count_allocations() {
    static COUNTED: Once = Once::new();
    COUNTED.call_once(|| {
        let counting = Allocator { malloc, calloc, realloc, free };
        #[expect(unsafe_code, reason = "the bounds of a parse are told by its allocations")]
        // SAFETY: the functions are those of the C library, which is what came before them: memory may be freed by either.
        // Nobody uses a parser before this returns.
        unsafe {
            tree_sitter::set_allocator(Some(counting));
        }
    });
}

/// Begins again from nothing, on this thread.
pub(super) fn start() {
    COUNTS.set(Counts::default());
}

pub(super) fn counts() -> Counts {
    COUNTS.get()
}

/// Notes a piece of memory that was taken. What it holds may have been copied there, so that a large one is work, too.
fn note_taken(piece: *mut c_void, size: usize) {
    let counts = COUNTS.get();
    COUNTS.set(Counts {
        n_dropped: counts.n_dropped.wrapping_add(size / BYTES_PER_UNIT),
        n_held: counts.n_held.wrapping_add(1),
        n_stacked: counts.n_stacked.wrapping_add(stacked(piece)),
    });
}

/// Notes a piece of memory that was given back; there may be none.
fn note_dropped(piece: *mut c_void) {
    if !piece.is_null() {
        let counts = COUNTS.get();
        COUNTS.set(Counts {
            n_dropped: counts.n_dropped.wrapping_add(1),
            n_held: counts.n_held.wrapping_sub(1),
            n_stacked: counts.n_stacked.wrapping_sub(stacked(piece)),
        });
    }
}

/// One, if a piece of memory is a place on the stack.
fn stacked(piece: *mut c_void) -> isize {
    isize::from(STACK_BYTES.contains(&size_of_piece(piece)))
}

/// How many bytes lie at a place that was given out and not taken back.
#[expect(unsafe_code, reason = "what is given back does not tell its size")]
fn size_of_piece(piece: *mut c_void) -> usize {
    if piece.is_null() {
        return 0;
    }
    // SAFETY: it was given out by the C library, and is in use.
    #[cfg(target_vendor = "apple")]
    let size = unsafe { libc::malloc_size(piece) };
    // SAFETY: it was given out by the C library, and is in use.
    #[cfg(windows)]
    let size = unsafe { _msize(piece) };
    // SAFETY: it was given out by the C library, and is in use.
    #[cfg(not(any(target_vendor = "apple", windows)))]
    let size = unsafe { libc::malloc_usable_size(piece) };
    size
}

#[cfg(windows)]
#[expect(unsafe_code, reason = "the C library of Windows has it by another name")]
unsafe extern "C" {
    fn _msize(piece: *mut c_void) -> usize;
}

#[expect(unsafe_code, reason = "passed on as it came")]
unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    // SAFETY: what is asked of this function is asked of the other.
    let piece = unsafe { libc::malloc(size) };
    note_taken(piece, size);
    piece
}

#[expect(unsafe_code, reason = "passed on as it came")]
unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    // SAFETY: what is asked of this function is asked of the other.
    let piece = unsafe { libc::calloc(count, size) };
    note_taken(piece, count.saturating_mul(size));
    piece
}

#[expect(unsafe_code, reason = "passed on as it came")]
unsafe extern "C" fn realloc(piece: *mut c_void, size: usize) -> *mut c_void {
    note_dropped(piece);
    // SAFETY: what is asked of this function is asked of the other.
    let piece = unsafe { libc::realloc(piece, size) };
    note_taken(piece, size);
    piece
}

#[expect(unsafe_code, reason = "passed on as it came")]
unsafe extern "C" fn free(piece: *mut c_void) {
    note_dropped(piece);
    // SAFETY: what is asked of this function is asked of the other.
    unsafe { libc::free(piece) };
}
