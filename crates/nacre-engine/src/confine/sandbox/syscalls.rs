//! The wall around system calls: seccomp.
//!
//! Calls are listed by what is refused: compilers and package managers make calls that no list of ours would hold. What is on
//! the list gives other rights, other processes' memory, or a way around the file rules. Arguments of a call are listed by what
//! is allowed, so that a value that nobody thought of is refused.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::error::Error;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

use super::{Confinement, Metadata, Reach, WallError};

/// Refused to every program.
#[rustfmt::skip]
const REFUSED: &[i64] = &[
    // Other processes.
    libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev,
    libc::SYS_process_madvise, libc::SYS_pidfd_getfd, libc::SYS_process_mrelease, libc::SYS_kcmp,
    libc::SYS_migrate_pages, libc::SYS_move_pages,
    // Memory, counters and messages that are found by a number, and not by a path that the file rules see.
    libc::SYS_shmget, libc::SYS_shmat, libc::SYS_shmctl, libc::SYS_shmdt, libc::SYS_semget,
    libc::SYS_semop, libc::SYS_semtimedop, libc::SYS_semctl, libc::SYS_msgget, libc::SYS_msgsnd,
    libc::SYS_msgrcv, libc::SYS_msgctl, libc::SYS_mq_open, libc::SYS_mq_unlink,
    libc::SYS_mq_timedsend, libc::SYS_mq_timedreceive, libc::SYS_mq_notify,
    libc::SYS_mq_getsetattr,
    // Another view of the file system.
    libc::SYS_mount, libc::SYS_umount2, libc::SYS_pivot_root, libc::SYS_chroot,
    libc::SYS_move_mount, libc::SYS_open_tree, OPEN_TREE_ATTR, libc::SYS_fsopen,
    libc::SYS_fsconfig, libc::SYS_fsmount, libc::SYS_fspick, libc::SYS_mount_setattr,
    libc::SYS_unshare, libc::SYS_setns, libc::SYS_name_to_handle_at, libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init, libc::SYS_fanotify_mark, libc::SYS_lookup_dcookie,
    libc::SYS_quotactl, libc::SYS_quotactl_fd,
    // Keys of the session.
    libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key,
    // Programs and queues in the kernel, which see no filter.
    libc::SYS_bpf, libc::SYS_perf_event_open, libc::SYS_userfaultfd, libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter, libc::SYS_io_uring_register,
    // The machine.
    #[cfg(target_arch = "x86_64")] libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")] libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")] libc::SYS_modify_ldt, libc::SYS_init_module,
    libc::SYS_finit_module, libc::SYS_delete_module, libc::SYS_kexec_load,
    libc::SYS_kexec_file_load, libc::SYS_reboot, libc::SYS_swapon, libc::SYS_swapoff,
    libc::SYS_acct, libc::SYS_settimeofday, libc::SYS_clock_settime, libc::SYS_clock_adjtime,
    libc::SYS_adjtimex, libc::SYS_sethostname, libc::SYS_setdomainname, libc::SYS_syslog,
    libc::SYS_vhangup,
];

/// Calls that are younger than the table of numbers; they have the same ones on all machines.
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const OPEN_TREE_ATTR: i64 = 467;
const FILE_SETATTR: i64 = 469;

/// Kinds of sockets: a stream, a sequence of packets, a datagram; each plain, and with `SOCK_NONBLOCK`, `SOCK_CLOEXEC` or both.
/// `SOCK_RAW` of `AF_UNIX` is a datagram socket, too.
const STREAM: [u64; 4] = [1, 0x801, 0x8_0001, 0x8_0801];
const PACKETS: [u64; 4] = [5, 0x805, 0x8_0005, 0x8_0805];
const DATAGRAM: [u64; 4] = [2, 0x802, 0x8_0002, 0x8_0802];

/// What `clone` may share, and the signal at the end: what makes threads and processes. No namespaces, no `CLONE_PARENT`, no
/// tracing.
const CLONE_FLAGS: u64 = 0x817D_5FFF;

/// Ways to run that programs may choose: the usual one, that of 32-bit programs, both with a uname of old, and the question
/// which one it is. The others make memory easier to foresee or to execute.
const PERSONALITIES: &[u64] = &[0, 0x0008, 0x0002_0000, 0x0002_0008, 0xFFFF_FFFF];

/// Commands of `ioctl` where metadata is kept: questions to a terminal, what waits in a pipe, how a handle behaves, copies
/// that share blocks, and reading attributes and extents of a file. Setting attributes takes no more than a handle that reads.
#[rustfmt::skip]
const IOCTLS: &[u64] = &[
    0x5401, 0x5402, 0x5403, 0x5404, 0x5405, 0x540B, 0x540F, 0x5410, 0x5413, 0x5414, 0x541B, 0x5421,
    0x5450, 0x5451, 0x5452, 0x5460, 0x802C_542A, 0x402C_542B, 0x402C_542C, 0x402C_542D, 0x4004_9409,
    0x4020_940D, 0xC018_9436, 0x8008_6601, 0x8004_6601, 0x801C_581F, 0xC020_660B, 0x8008_7601,
];

/// Refused where metadata is kept.
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

/// The second set of numbers of an x86-64 kernel: the same calls with this bit, and some with numbers of their own.
/// A filter of plain numbers does not see them.
#[cfg(target_arch = "x86_64")]
const X32_BIT: i64 = 0x4000_0000;
#[cfg(target_arch = "x86_64")]
// ptrace, mq_notify, kexec_load, move_pages, process_vm_readv, process_vm_writev
const X32_OWN: &[i64] = &[521, 527, 528, 533, 539, 540];
#[cfg(not(target_arch = "x86_64"))]
const X32_OWN: &[i64] = &[];

type Fault = Box<dyn Error + Send + Sync>;

pub(super) fn confine(confinement: &Confinement) -> Result<(), WallError> {
    refuse(confinement).map_err(WallError::Syscalls)
}

fn refuse(confinement: &Confinement) -> Result<(), Fault> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    let metadata = match confinement.metadata {
        Metadata::Kept => METADATA,
        Metadata::Free => &[],
    };
    for number in REFUSED.iter().chain(X32_OWN).chain(metadata) {
        rules.insert(*number, Vec::new());
    }
    for (number, arguments) in judged(confinement) {
        rules.insert(number, arguments?);
    }
    both_numbers(&mut rules);
    apply(rules, libc::EPERM)?;
    // Its flags lie in memory, where a filter cannot look. Callers fall back to `clone` when it is not there.
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

/// The calls that are judged by their arguments, with what is refused of them; an empty list means always.
fn judged(confinement: &Confinement) -> Vec<(i64, Result<Vec<SeccompRule>, Fault>)> {
    let family = |family: i32| u64::from(family.unsigned_abs());
    let local = [&[family(libc::AF_UNIX)][..], &[STREAM, PACKETS].concat(), &[0]];
    let internet = [family(libc::AF_INET), family(libc::AF_INET6)];
    let protocols = [0, family(libc::IPPROTO_TCP), family(libc::IPPROTO_UDP)];
    let internet = [&internet[..], &[STREAM, DATAGRAM].concat(), &protocols];
    let clone = (0..32)
        .map(|bit| 1 << bit)
        .filter(|flag| CLONE_FLAGS & flag == 0)
        .map(|flag| Ok(SeccompRule::new(vec![condition(0, SeccompCmpOp::MaskedEq(flag), flag)?])?));
    let sockets = match confinement.reach {
        Reach::Nothing => Ok(Vec::new()),
        Reach::Internet => other_than(0, &internet),
    };
    let mut judged = vec![
        (libc::SYS_socket, sockets),
        (libc::SYS_socketpair, other_than(0, &local)),
        (libc::SYS_clone, clone.collect()),
        // Only its own limits: the watcher is a process of the same user.
        (libc::SYS_prlimit64, other_than(0, &[&[0]])),
        (libc::SYS_personality, other_than(0, &[PERSONALITIES])),
    ];
    if confinement.metadata == Metadata::Kept {
        judged.push((libc::SYS_ioctl, other_than(1, &[IOCTLS])));
    }
    judged
}

/// Refuses a call when one of its arguments, from the one with number `first` on, has a value that is not on its list.
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
