//! Gives memory that is not used back to the system: a place with `unsafe`.
//!
//! The allocator of glibc keeps what threads freed, in up to eight places for each processor. A server that serves for weeks would
//! hold the most that was ever needed in each of them, and what lives on among it keeps its pages. So there are few places,
//! and what is free in them goes back now and then. Other allocators do so by themselves.

/// Places that memory is taken from: threads wait for one another where there are fewer than processors.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const PLACES: std::ops::RangeInclusive<usize> = 2..=4;

/// Has a process with many threads take its memory from few places. Said before the threads are started.
pub fn share_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// As glibc numbers it.
        const M_ARENA_MAX: i32 = -8;
        let n_cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let n_places = n_cores.clamp(*PLACES.start(), *PLACES.end());
        // It tells whether it knows the setting.
        let _ = glibc::mallopt(M_ARENA_MAX, i32::try_from(n_places).unwrap_or(i32::MAX));
    }
}

/// Gives free memory of the allocator back.
pub fn give_back_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // Nothing is left free on purpose.
        const PAD: usize = 0;
        // It tells whether there was any.
        let _ = glibc::malloc_trim(PAD);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    use std::ffi::c_int;

    #[expect(unsafe_code, reason = "functions of the C library that no crate offers safely")]
    // SAFETY: declared as glibc declares them. They take any numbers, and may be called by any thread at any time.
    unsafe extern "C" {
        pub(super) safe fn mallopt(parameter: c_int, value: c_int) -> c_int;
        pub(super) safe fn malloc_trim(pad: usize) -> c_int;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays() {
        let used: Vec<Vec<u8>> = (0..100_u8).map(|byte| vec![byte; 4096]).collect();
        let freed: Vec<Vec<u8>> = (0..100_u8).map(|byte| vec![byte; 4096]).collect();
        drop(freed);
        share_memory();
        give_back_memory();
        assert!(used.iter().zip(0..).all(|(bytes, byte)| *bytes == vec![byte; 4096]));
    }
}
