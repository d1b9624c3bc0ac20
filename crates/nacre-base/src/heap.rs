//! Returns unused heap memory to the system.
//!
//! glibc's allocator keeps freed memory in up to eight arenas per core. In a long-running server,
//! every arena would remain at its peak size, because the remaining allocations pin its pages. The
//! number of arenas is therefore limited, and free memory is trimmed regularly. Other allocators do
//! this automatically.

/// With fewer arenas than cores, threads compete for them.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const PLACES: std::ops::RangeInclusive<usize> = 2..=4;

/// Limits the number of arenas. Must be called before the process starts any threads.
pub fn share_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const M_ARENA_MAX: i32 = -8;
        let n_cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let n_places = n_cores.clamp(*PLACES.start(), *PLACES.end());
        let _ = glibc::mallopt(M_ARENA_MAX, i32::try_from(n_places).unwrap_or(i32::MAX));
    }
}

pub fn give_back_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // Number of free bytes to keep at the top of the heap.
        const PAD: usize = 0;
        let _ = glibc::malloc_trim(PAD);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    use std::ffi::c_int;

    #[expect(unsafe_code, reason = "glibc functions that no crate wraps safely")]
    // SAFETY: the declarations match glibc's. Both functions accept any argument values and are
    // thread-safe.
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
