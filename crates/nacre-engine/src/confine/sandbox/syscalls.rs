//! Restricts system calls with seccomp.
//!
//! The filter is a deny-list, because compilers and package managers make too many different calls
//! for an allow-list. It blocks calls that grant privileges, access the memory of other processes,
//! or bypass the file rules. Filtering by argument uses lists of allowed values, so that unexpected
//! values are refused.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::error::Error;

use nacre_base::with_causes;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

#[rustfmt::skip]
const REFUSED: &[i64] = &[
    // Calls that access other processes.
    libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev,
    libc::SYS_process_madvise, libc::SYS_pidfd_getfd, libc::SYS_process_mrelease, libc::SYS_kcmp,
    libc::SYS_migrate_pages, libc::SYS_move_pages,
    // Shared memory, semaphores and message queues. They are identified by numbers instead of paths
    // and thus bypass the file rules.
    libc::SYS_shmget, libc::SYS_shmat, libc::SYS_shmctl, libc::SYS_shmdt, libc::SYS_semget,
    libc::SYS_semop, libc::SYS_semtimedop, libc::SYS_semctl, libc::SYS_msgget, libc::SYS_msgsnd,
    libc::SYS_msgrcv, libc::SYS_msgctl, libc::SYS_mq_open, libc::SYS_mq_unlink,
    libc::SYS_mq_timedsend, libc::SYS_mq_timedreceive, libc::SYS_mq_notify,
    libc::SYS_mq_getsetattr,
    // Calls that change which file systems a process sees.
    libc::SYS_mount, libc::SYS_umount2, libc::SYS_pivot_root, libc::SYS_chroot,
    libc::SYS_move_mount, libc::SYS_open_tree, OPEN_TREE_ATTR, libc::SYS_fsopen,
    libc::SYS_fsconfig, libc::SYS_fsmount, libc::SYS_fspick, libc::SYS_mount_setattr,
    libc::SYS_unshare, libc::SYS_setns, libc::SYS_name_to_handle_at, libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init, libc::SYS_fanotify_mark, libc::SYS_lookup_dcookie,
    libc::SYS_quotactl, libc::SYS_quotactl_fd,
    // Kernel keyrings.
    libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key,
    // Kernel interfaces that bypass the filter, such as BPF and io_uring.
    libc::SYS_bpf, libc::SYS_perf_event_open, libc::SYS_userfaultfd, libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter, libc::SYS_io_uring_register,
    // Calls that control the whole machine.
    #[cfg(target_arch = "x86_64")] libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")] libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")] libc::SYS_modify_ldt, libc::SYS_init_module,
    libc::SYS_finit_module, libc::SYS_delete_module, libc::SYS_kexec_load,
    libc::SYS_kexec_file_load, libc::SYS_reboot, libc::SYS_swapon, libc::SYS_swapoff,
    libc::SYS_acct, libc::SYS_settimeofday, libc::SYS_clock_settime, libc::SYS_clock_adjtime,
    libc::SYS_adjtimex, libc::SYS_sethostname, libc::SYS_setdomainname, libc::SYS_syslog,
    libc::SYS_vhangup,
];

/// System calls that are newer than the table in `libc`. Their numbers are the same on all
/// architectures.
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const OPEN_TREE_ATTR: i64 = 467;
const FILE_SETATTR: i64 = 469;

/// Socket types: stream and sequenced packet, each plain or with `SOCK_NONBLOCK`, `SOCK_CLOEXEC` or
/// both.
const STREAM: [u64; 4] = [1, 0x801, 0x8_0001, 0x8_0801];
const PACKETS: [u64; 4] = [5, 0x805, 0x8_0005, 0x8_0805];

/// `clone` flags needed to create threads and processes, and the exit signal. Namespaces,
/// `CLONE_PARENT` and tracing are excluded.
const CLONE_FLAGS: u64 = 0x817D_5FFF;

/// Allowed execution domains: the default and 32-bit, each with or without an old uname, and the
/// query for the current domain. Other domains make the memory layout predictable or data
/// executable.
const PERSONALITIES: &[u64] = &[0, 0x0008, 0x0002_0000, 0x0002_0008, 0xFFFF_FFFF];

/// Allowed `ioctl` commands: terminal state, bytes queued in a pipe, descriptor flags, reflink
/// copies, and reading a file's attributes and extents. Commands that set attributes are excluded
/// because a read-only descriptor is enough to use them.
#[rustfmt::skip]
const IOCTLS: &[u64] = &[
    0x5401, 0x5402, 0x5403, 0x5404, 0x5405, 0x540B, 0x540F, 0x5410, 0x5413, 0x5414, 0x541B, 0x5421,
    0x5450, 0x5451, 0x5452, 0x5460, 0x802C_542A, 0x402C_542B, 0x402C_542C, 0x402C_542D, 0x4004_9409,
    0x4020_940D, 0xC018_9436, 0x8008_6601, 0x8004_6601, 0x801C_581F, 0xC020_660B, 0x8008_7601,
];

/// System calls that change file modes, owners, timestamps or attributes. They are refused because
/// Landlock does not cover them.
#[rustfmt::skip]
const METADATA: &[i64] = &[
    #[cfg(target_arch = "x86_64")] libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")] libc::SYS_chown,
    #[cfg(target_arch = "x86_64")] libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")] libc::SYS_utime,
    #[cfg(target_arch = "x86_64")] libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")] libc::SYS_futimesat, libc::SYS_fchmod, libc::SYS_fchmodat,
    libc::SYS_fchmodat2, libc::SYS_fchown, libc::SYS_fchownat, libc::SYS_utimensat,
    libc::SYS_setxattr, libc::SYS_lsetxattr, libc::SYS_fsetxattr, libc::SYS_removexattr,
    libc::SYS_lremovexattr, libc::SYS_fremovexattr, SETXATTRAT, REMOVEXATTRAT, FILE_SETATTR,
];

/// Bit that marks x32 ABI system call numbers on x86-64 kernels. A filter that matches only plain
/// numbers would miss these calls. Some system calls also have dedicated x32 numbers.
#[cfg(target_arch = "x86_64")]
const X32_BIT: i64 = 0x4000_0000;
#[cfg(target_arch = "x86_64")]
// ptrace, mq_notify, kexec_load, move_pages, process_vm_readv, process_vm_writev
const X32_OWN: &[i64] = &[521, 527, 528, 533, 539, 540];
#[cfg(not(target_arch = "x86_64"))]
const X32_OWN: &[i64] = &[];

type Fault = Box<dyn Error + Send + Sync>;

pub(super) fn confine() -> Result<(), String> {
    refuse().map_err(|error| {
        format!("this kernel cannot filter system calls (seccomp): {}", with_causes(&*error))
    })
}

fn refuse() -> Result<(), Fault> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for number in REFUSED.iter().chain(X32_OWN).chain(METADATA) {
        rules.insert(*number, Vec::new());
    }
    for (number, arguments) in build_argument_rules() {
        rules.insert(number, arguments?);
    }
    both_numbers(&mut rules);
    apply(rules, libc::EPERM)?;
    // The flags of `clone3` are in memory, where a filter cannot read them. If `clone3` is missing,
    // callers fall back to `clone`.
    let mut hidden = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    both_numbers(&mut hidden);
    apply(hidden, libc::ENOSYS)
}

fn both_numbers(rules: &mut BTreeMap<i64, Vec<SeccompRule>>) {
    #[cfg(target_arch = "x86_64")]
    {
        let others: Vec<_> =
            rules.iter().map(|(number, rules)| (number | X32_BIT, rules.clone())).collect();
        rules.extend(others);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = rules;
}

fn apply(rules: BTreeMap<i64, Vec<SeccompRule>>, errno: i32) -> Result<(), Fault> {
    let target = TargetArch::try_from(ARCH)?;
    let refusal = SeccompAction::Errno(errno.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refusal, target)?;
    let program: BpfProgram = filter.try_into()?;
    Ok(apply_filter(&program)?)
}

/// Returns the system calls that are filtered by argument, each with the argument values to refuse.
/// A call with an empty list is always refused.
fn build_argument_rules() -> [(i64, Result<Vec<SeccompRule>, Fault>); 6] {
    let local = [&[u64::from(libc::AF_UNIX.unsigned_abs())][..], &[STREAM, PACKETS].concat(), &[0]];
    let clone = (0..32)
        .map(|bit| 1 << bit)
        .filter(|flag| CLONE_FLAGS & flag == 0)
        .map(|flag| Ok(SeccompRule::new(vec![condition(0, SeccompCmpOp::MaskedEq(flag), flag)?])?));
    [
        (libc::SYS_socket, Ok(Vec::new())),
        (libc::SYS_socketpair, other_than(0, &local)),
        (libc::SYS_clone, clone.collect()),
        // A program may change only its own limits. The watcher runs as the same user, so the
        // program could otherwise change the watcher's limits.
        (libc::SYS_prlimit64, other_than(0, &[&[0]])),
        (libc::SYS_personality, other_than(0, &[PERSONALITIES])),
        (libc::SYS_ioctl, other_than(1, &[IOCTLS])),
    ]
}

/// Refuses a call if any argument's value is not in that argument's list. The first list is for
/// argument number `first`.
fn other_than(first: u8, allowed: &[&[u64]]) -> Result<Vec<SeccompRule>, Fault> {
    let rule = |(argument, values): (u8, &&[u64])| {
        let others = values.iter().map(|value| condition(argument, SeccompCmpOp::Ne, *value));
        Ok(SeccompRule::new(others.collect::<Result<_, _>>()?)?)
    };
    (first..).zip(allowed).map(rule).collect()
}

fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, Fault> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?)
}
