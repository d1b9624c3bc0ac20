//! Counts a parser's memory allocations to limit its work deterministically. This module uses
//! `unsafe`.
//!
//! A single error recovery step can take time proportional to the file size without reporting
//! progress. During recovery, the parser allocates and frees many nodes, which rarely happens with
//! real code, so the number of allocations measures that work.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Once;

use tree_sitter::Allocator;

/// An allocation larger than this counts several times, because it may be copied in full.
const BYTES_PER_UNIT: usize = 4_096;

/// Allocations of this size are nodes on the parser's stack. Few others have this size.
const STACK_BYTES: std::ops::RangeInclusive<usize> = 225..=256;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Number of blocks freed.
    pub(super) n_dropped: usize,
    /// Change in the number of allocated blocks since counting started.
    pub(super) n_held: isize,
    /// Number of allocated stack nodes. Unclosed constructs stay on the stack, and a single step
    /// may traverse the stack many times.
    pub(super) n_stacked: isize,
}

thread_local! {
    static COUNTS: Cell<Counts> = const { Cell::new(Counts { n_dropped: 0, n_held: 0, n_stacked: 0 }) };
}

/// Starts counting on all threads. Must be called before any parser or grammar is used.
pub(super) fn count_allocations() {
    static COUNTED: Once = Once::new();
    COUNTED.call_once(|| {
        let counting = Allocator { malloc, calloc, realloc, free };
        #[expect(unsafe_code, reason = "the cost of a parse is measured by its allocations")]
        // SAFETY: the functions forward to the C library, which was the previous allocator, so
        // either can free the other's memory. No parser is used before this function returns.
        unsafe {
            tree_sitter::set_allocator(Some(counting));
        }
    });
}

pub(super) fn start() {
    COUNTS.set(Counts::default());
}

pub(super) fn counts() -> Counts {
    COUNTS.get()
}

/// Counts an allocation. A large block counts several times, because a reallocation may copy its
/// content.
fn note_taken(piece: *mut c_void, size: usize) {
    let counts = COUNTS.get();
    COUNTS.set(Counts {
        n_dropped: counts.n_dropped.wrapping_add(size / BYTES_PER_UNIT),
        n_held: counts.n_held.wrapping_add(1),
        n_stacked: counts.n_stacked.wrapping_add(count_stack_piece(piece)),
    });
}

/// Counts a freed block. The pointer may be null.
fn note_dropped(piece: *mut c_void) {
    if !piece.is_null() {
        let counts = COUNTS.get();
        COUNTS.set(Counts {
            n_dropped: counts.n_dropped.wrapping_add(1),
            n_held: counts.n_held.wrapping_sub(1),
            n_stacked: counts.n_stacked.wrapping_sub(count_stack_piece(piece)),
        });
    }
}

fn count_stack_piece(piece: *mut c_void) -> isize {
    isize::from(STACK_BYTES.contains(&size_of_piece(piece)))
}

#[expect(unsafe_code, reason = "`free` does not receive the block size")]
fn size_of_piece(piece: *mut c_void) -> usize {
    if piece.is_null() {
        return 0;
    }
    // SAFETY: the C library allocated the block, and the block has not been freed.
    #[cfg(target_vendor = "apple")]
    let size = unsafe { libc::malloc_size(piece) };
    // SAFETY: the C library allocated the block, and the block has not been freed.
    #[cfg(windows)]
    let size = unsafe { _msize(piece) };
    // SAFETY: the C library allocated the block, and the block has not been freed.
    #[cfg(not(any(target_vendor = "apple", windows)))]
    let size = unsafe { libc::malloc_usable_size(piece) };
    size
}

#[cfg(windows)]
#[expect(unsafe_code, reason = "the Windows C library uses another name")]
unsafe extern "C" {
    fn _msize(piece: *mut c_void) -> usize;
}

#[expect(unsafe_code, reason = "forwards to the C library")]
unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    // SAFETY: the caller upholds the contract of `malloc`.
    let piece = unsafe { libc::malloc(size) };
    note_taken(piece, size);
    piece
}

#[expect(unsafe_code, reason = "forwards to the C library")]
unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    // SAFETY: the caller upholds the contract of `calloc`.
    let piece = unsafe { libc::calloc(count, size) };
    note_taken(piece, count.saturating_mul(size));
    piece
}

#[expect(unsafe_code, reason = "forwards to the C library")]
unsafe extern "C" fn realloc(piece: *mut c_void, size: usize) -> *mut c_void {
    note_dropped(piece);
    // SAFETY: the caller upholds the contract of `realloc`.
    let piece = unsafe { libc::realloc(piece, size) };
    note_taken(piece, size);
    piece
}

#[expect(unsafe_code, reason = "forwards to the C library")]
unsafe extern "C" fn free(piece: *mut c_void) {
    note_dropped(piece);
    // SAFETY: the caller upholds the contract of `free`.
    unsafe { libc::free(piece) };
}
