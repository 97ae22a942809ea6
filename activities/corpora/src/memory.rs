//! Memory that was freed goes back to the system, so that a build's peak does not grow with its corpus.

/// A freed buffer of at least so many bytes goes back at once.
const LARGE: i32 = 4 * 1024 * 1024;

/// At most so many bytes that were freed at the end of a heap are kept for its next use.
const KEPT: i32 = 16 * 1024 * 1024;

/// Fixes both for the whole process; to be called before other threads start.
///
/// glibc otherwise raises them to the largest buffer that was ever freed: from then on row groups of 16 MiB come from
/// heaps that fragment, and the peak of a build of 400 MB was half as large again as that of 100 MB. Other allocators
/// give large buffers back by themselves.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "mallopt takes two numbers, and no other thread allocates yet")]
pub(crate) fn give_back() {
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
    }
}

/// Nothing is to be done.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_back() {}

#[cfg(test)]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod tests {
    use std::hint::black_box;

    use super::*;

    const MIB: usize = 1024 * 1024;

    /// Resident bytes of this process (proc(5), `statm`, in pages of 4 KiB at least).
    fn resident() -> usize {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
    }

    #[test]
    fn a_large_buffer_goes_back_when_it_is_freed() {
        give_back();
        // Without the call, this teaches the allocator to keep what follows.
        drop(black_box(vec![1_u8; 30 * MIB]));
        let before = resident();
        // Each is larger than the holes before, and in front of something that stays.
        let stays = [8, 10, 12, 14, 16].map(|size| {
            let large = black_box(vec![1_u8; size * MIB]);
            let stays = black_box(vec![1_u8; MIB]);
            drop(large);
            stays
        });
        let after = resident();
        let kept = stays.iter().map(Vec::len).sum::<usize>();
        assert!(after < before + kept + 10 * MIB, "{before} bytes before, {after} after");
    }
}
