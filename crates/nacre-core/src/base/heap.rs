//! Gives memory that is not used back to the system: a place with `unsafe`.
//!
//! The allocator of glibc keeps what threads freed, for each of several threads apart. A server that serves for weeks would
//! hold the most that each of them ever needed.

/// Gives free memory of the allocator back. Other allocators do so by themselves.
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

    #[expect(unsafe_code, reason = "a function of the C library that no crate offers safely")]
    // SAFETY: declared as glibc declares it. It takes any number, and may be called by any thread at any time.
    unsafe extern "C" {
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
        give_back_memory();
        assert!(used.iter().zip(0..).all(|(bytes, byte)| *bytes == vec![byte; 4096]));
    }
}
