//! The C library's functions that copy, fill and compare memory, for the static build: musl's use string instructions, which
//! take tens of cycles for the few bytes that a shell's strings have, and compare byte by byte. These move 16 bytes at once,
//! which every x86-64 processor can, so nothing has to be asked about it.
//!
//! They are written in assembly, because a compiler turns a loop that copies into a call of the very function it is in.

use std::arch::naked_asm;
use std::ffi::{c_int, c_void};

/// Copies `rdx` bytes from `rsi` to `rdi`. Up to 64 bytes are loaded before any is stored. Of more, the end that is written
/// last is loaded first, and the blocks go in the direction in which none is written before it was read.
macro_rules! moving {
    () => {
        "mov rax, rdi
         cmp rdx, 16
         jb 20f
         cmp rdx, 32
         ja 30f
         movups xmm0, [rsi]
         movups xmm1, [rsi+rdx-16]
         movups [rdi], xmm0
         movups [rdi+rdx-16], xmm1
         ret
     20: cmp edx, 8
         jb 21f
         mov rcx, [rsi]
         mov rsi, [rsi+rdx-8]
         mov [rdi], rcx
         mov [rdi+rdx-8], rsi
         ret
     21: cmp edx, 4
         jb 22f
         mov ecx, [rsi]
         mov esi, [rsi+rdx-4]
         mov [rdi], ecx
         mov [rdi+rdx-4], esi
         ret
     22: test edx, edx
         je 23f
         movzx ecx, byte ptr [rsi]
         movzx r8d, byte ptr [rsi+rdx-1]
         mov r9d, edx
         shr r9d
         movzx r10d, byte ptr [rsi+r9]
         mov [rdi], cl
         mov [rdi+r9], r10b
         mov [rdi+rdx-1], r8b
     23: ret
     30: cmp rdx, 64
         ja 40f
         movups xmm0, [rsi]
         movups xmm1, [rsi+16]
         movups xmm2, [rsi+rdx-32]
         movups xmm3, [rsi+rdx-16]
         movups [rdi], xmm0
         movups [rdi+16], xmm1
         movups [rdi+rdx-32], xmm2
         movups [rdi+rdx-16], xmm3
         ret
     40: mov rcx, rdi
         sub rcx, rsi
         cmp rcx, rdx
         jb 50f
         movups xmm4, [rsi+rdx-64]
         movups xmm5, [rsi+rdx-48]
         movups xmm6, [rsi+rdx-32]
         movups xmm7, [rsi+rdx-16]
         lea r8, [rdi+rdx-64]
     41: movups xmm0, [rsi]
         movups xmm1, [rsi+16]
         movups xmm2, [rsi+32]
         movups xmm3, [rsi+48]
         movups [rdi], xmm0
         movups [rdi+16], xmm1
         movups [rdi+32], xmm2
         movups [rdi+48], xmm3
         add rsi, 64
         add rdi, 64
         cmp rdi, r8
         jb 41b
         movups [r8], xmm4
         movups [r8+16], xmm5
         movups [r8+32], xmm6
         movups [r8+48], xmm7
         ret
     50: movups xmm4, [rsi]
         movups xmm5, [rsi+16]
         movups xmm6, [rsi+32]
         movups xmm7, [rsi+48]
         add rsi, rdx
         add rdx, rdi
         lea r8, [rdi+64]
     51: movups xmm0, [rsi-16]
         movups xmm1, [rsi-32]
         movups xmm2, [rsi-48]
         movups xmm3, [rsi-64]
         movups [rdx-16], xmm0
         movups [rdx-32], xmm1
         movups [rdx-48], xmm2
         movups [rdx-64], xmm3
         sub rsi, 64
         sub rdx, 64
         cmp rdx, r8
         ja 51b
         movups [rdi], xmm4
         movups [rdi+16], xmm5
         movups [rdi+32], xmm6
         movups [rdi+48], xmm7
         ret"
    };
}

/// Compares `rdx` bytes at `rdi` and `rsi`: the sign of the first difference, or 0. The last bytes are compared as a whole
/// block or word that ends with them, which may look at bytes again that are equal.
macro_rules! comparing {
    () => {
        "cmp rdx, 16
         jb 20f
         xor ecx, ecx
         sub rdx, 16
     60: movups xmm0, [rdi+rcx]
         movups xmm1, [rsi+rcx]
         pcmpeqb xmm0, xmm1
         pmovmskb eax, xmm0
         xor eax, 0xffff
         jne 62f
         cmp rcx, rdx
         je 61f
         add rcx, 16
         cmp rcx, rdx
         cmova rcx, rdx
         jmp 60b
     61: ret
     62: bsf eax, eax
         add rcx, rax
         movzx eax, byte ptr [rdi+rcx]
         movzx ecx, byte ptr [rsi+rcx]
         sub eax, ecx
         ret
     20: cmp edx, 8
         jb 30f
         mov rax, [rdi]
         mov rcx, [rsi]
         cmp rax, rcx
         jne 21f
         mov rax, [rdi+rdx-8]
         mov rcx, [rsi+rdx-8]
         cmp rax, rcx
         je 22f
     21: bswap rax
         bswap rcx
         cmp rax, rcx
         sbb eax, eax
         or eax, 1
         ret
     22: xor eax, eax
         ret
     30: cmp edx, 4
         jb 40f
         mov eax, [rdi]
         mov ecx, [rsi]
         cmp eax, ecx
         jne 31f
         mov eax, [rdi+rdx-4]
         mov ecx, [rsi+rdx-4]
         cmp eax, ecx
         je 22b
     31: bswap eax
         bswap ecx
         cmp eax, ecx
         sbb eax, eax
         or eax, 1
         ret
     40: xor r8d, r8d
     41: cmp r8, rdx
         je 22b
         movzx eax, byte ptr [rdi+r8]
         movzx ecx, byte ptr [rsi+r8]
         inc r8
         sub eax, ecx
         je 41b
         ret"
    };
}

/// `memcpy`, which may as well be `memmove`.
///
/// # Safety
/// As in C: `to` and `from` are valid for `count` bytes.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
unsafe extern "C" fn memcpy(to: *mut c_void, from: *const c_void, count: usize) -> *mut c_void {
    naked_asm!(moving!())
}

/// `memmove`.
///
/// # Safety
/// As in C: `to` and `from` are valid for `count` bytes.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
unsafe extern "C" fn memmove(to: *mut c_void, from: *const c_void, count: usize) -> *mut c_void {
    naked_asm!(moving!())
}

/// `memset`.
///
/// # Safety
/// As in C: `to` is valid for `count` bytes.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
unsafe extern "C" fn memset(to: *mut c_void, byte: c_int, count: usize) -> *mut c_void {
    naked_asm!(
        "mov rax, rdi
         movzx esi, sil
         movabs rcx, 0x0101010101010101
         imul rcx, rsi
         cmp rdx, 16
         jb 20f
         movq xmm0, rcx
         punpcklqdq xmm0, xmm0
         movups [rdi], xmm0
         movups [rdi+rdx-16], xmm0
         cmp rdx, 32
         jbe 61f
         movups [rdi+16], xmm0
         movups [rdi+rdx-32], xmm0
         lea r8, [rdi+rdx-32]
         add rdi, 32
         cmp rdi, r8
         jae 61f
     60: movups [rdi], xmm0
         movups [rdi+16], xmm0
         add rdi, 32
         cmp rdi, r8
         jb 60b
     61: ret
     20: cmp edx, 8
         jb 21f
         mov [rdi], rcx
         mov [rdi+rdx-8], rcx
         ret
     21: cmp edx, 4
         jb 22f
         mov [rdi], ecx
         mov [rdi+rdx-4], ecx
         ret
     22: test edx, edx
         je 23f
         mov r9d, edx
         shr r9d
         mov [rdi], cl
         mov [rdi+r9], cl
         mov [rdi+rdx-1], cl
     23: ret"
    )
}

/// `memcmp`.
///
/// # Safety
/// As in C: `left` and `right` are valid for `count` bytes.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
unsafe extern "C" fn memcmp(left: *const c_void, right: *const c_void, count: usize) -> c_int {
    naked_asm!(comparing!())
}

/// `bcmp`: `memcmp` for those who ask only about equality.
///
/// # Safety
/// As in C: `left` and `right` are valid for `count` bytes.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
unsafe extern "C" fn bcmp(left: *const c_void, right: *const c_void, count: usize) -> c_int {
    naked_asm!(comparing!())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than four blocks of the largest loop.
    const LENGTH_MAX: usize = 300;

    fn pattern(length: usize) -> Vec<u8> {
        (0..length).map(|n| (n * 7 + n / 251) as u8).collect()
    }

    /// What `copy` makes of a buffer in which `count` bytes go from offset `from` to offset `to`.
    fn moved(
        copy: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void,
        to: usize,
        from: usize,
        count: usize,
    ) -> Vec<u8> {
        let mut bytes = pattern(to.max(from) + count + 1);
        let base = bytes.as_mut_ptr();
        // SAFETY: both pieces lie in the buffer.
        let returned = unsafe { copy(base.add(to).cast(), base.add(from).cast(), count) };
        assert_eq!(returned, base.wrapping_add(to).cast());
        bytes
    }

    #[test]
    fn bytes_are_moved_to_either_side_by_any_distance() {
        for count in 0..LENGTH_MAX {
            for (to, from) in [(0, 1), (1, 0), (0, 7), (16, 3), (3, 40), (70, 5), (5, 200), (200, 5), (9, 9)]
            {
                let mut expected = pattern(to.max(from) + count + 1);
                expected.copy_within(from..from + count, to);
                assert_eq!(moved(memmove, to, from, count), expected, "{to} {from} {count}");
                assert_eq!(moved(memcpy, to, from, count), expected, "{to} {from} {count}");
            }
        }
    }

    #[test]
    fn no_byte_beside_those_asked_for_is_set() {
        for count in 0..LENGTH_MAX {
            let mut bytes = vec![1u8; count + 2];
            // SAFETY: the buffer has one byte more on either side.
            unsafe { memset(bytes.as_mut_ptr().add(1).cast(), 0x1a5, count) };
            assert!(bytes[1..=count].iter().all(|byte| *byte == 0xa5), "{count}");
            assert_eq!((bytes[0], bytes[count + 1]), (1, 1), "{count}");
        }
    }

    #[test]
    fn the_first_difference_decides() {
        for count in 0..LENGTH_MAX {
            let left = pattern(count);
            let compare = |right: &[u8]| {
                // SAFETY: both have `count` bytes.
                let signs =
                    [memcmp, bcmp].map(|f| unsafe { f(left.as_ptr().cast(), right.as_ptr().cast(), count) });
                assert_eq!(signs[0], signs[1]);
                signs[0].cmp(&0)
            };
            assert!(compare(&left).is_eq(), "{count}");
            for at in 0..count {
                let mut right = left.clone();
                right[at] ^= 0x80;
                // What follows the first difference does not matter.
                right[at + 1..].iter_mut().for_each(|byte| *byte = !*byte);
                assert_eq!(compare(&right), left.cmp(&right), "{at} of {count}");
            }
        }
    }
}
