//! The wall around system calls: seccomp.
//!
//! A list of what is refused, not of what is allowed: compilers and package managers call things that no list of ours
//! would hold. What is on it gives other rights, other processes' memory, or a way around the file rules.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::error::Error;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

use super::{Confinement, Metadata, Reach, WallError};

/// Refused to every program.
const REFUSED: &[i64] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_process_mrelease,
    libc::SYS_kcmp,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    // Memory, counters and messages that are found by a number, and not by a path that the file rules see.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmdt,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_mq_timedsend,
    libc::SYS_mq_timedreceive,
    libc::SYS_mq_notify,
    libc::SYS_mq_getsetattr,
    // Another view of the file system.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    libc::SYS_lookup_dcookie,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    // Keys of the session.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Programs and queues in the kernel, which see no filter.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // The machine.
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
    libc::SYS_vhangup,
];

/// Calls that are younger than the table of numbers; they have the same ones on all machines.
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const OPEN_TREE_ATTR: i64 = 467;
const FILE_SETATTR: i64 = 469;

/// Attributes of a file that an open handle is enough to change, also one that may only read: `FS_IOC_SETFLAGS`, its 32-bit
/// form, and `FS_IOC_FSSETXATTR`.
const SET_ATTRIBUTES: &[u64] = &[0x4008_6602, 0x4004_6602, 0x401C_5820];

/// Ways to run that programs may choose: the usual one, that of 32-bit programs, both with a uname of old, and the question
/// which one it is. The others make memory easier to foresee or to execute.
const PERSONALITIES: &[u64] = &[0, 0x0008, 0x0002_0000, 0x0002_0008, 0xFFFF_FFFF];

/// Refused where metadata is kept.
const METADATA: &[i64] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
];

/// The second set of numbers of an x86-64 kernel: the same calls with this bit, and some with numbers of their own.
/// A filter of plain numbers does not see them.
#[cfg(target_arch = "x86_64")]
const X32_BIT: i64 = 0x4000_0000;
#[cfg(target_arch = "x86_64")]
const X32_OWN: &[i64] = &[
    521, // ptrace
    527, // mq_notify
    528, // kexec_load
    533, // move_pages
    539, // process_vm_readv
    540, // process_vm_writev
];
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
    rules.insert(libc::SYS_socket, sockets(confinement.reach)?);
    rules.insert(libc::SYS_socketpair, pairs()?);
    rules.insert(libc::SYS_clone, namespaces()?);
    rules.insert(libc::SYS_prlimit64, limits_of_others()?);
    rules.insert(libc::SYS_personality, personalities()?);
    if confinement.metadata == Metadata::Kept {
        rules.insert(libc::SYS_ioctl, attributes()?);
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

/// When `socket` is refused; an empty list means always.
fn sockets(reach: Reach) -> Result<Vec<SeccompRule>, Fault> {
    match reach {
        Reach::Nothing => Ok(Vec::new()),
        Reach::Internet => {
            let other_than =
                |family: i32| condition(0, SeccompCmpOp::Ne, u64::from(family.unsigned_abs()));
            let rule = vec![other_than(libc::AF_INET)?, other_than(libc::AF_INET6)?];
            Ok(vec![SeccompRule::new(rule)?])
        }
    }
}

/// When `socketpair` is refused: a pair of datagram sockets can be turned to any address.
fn pairs() -> Result<Vec<SeccompRule>, Fault> {
    let datagram = u64::from(libc::SOCK_DGRAM.unsigned_abs());
    let is_datagram = condition(1, SeccompCmpOp::MaskedEq(0xF), datagram)?;
    Ok(vec![SeccompRule::new(vec![is_datagram])?])
}

/// When `clone` is refused: with a flag that makes a namespace.
fn namespaces() -> Result<Vec<SeccompRule>, Fault> {
    let flags = [
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ];
    let rule = |flag: &i32| -> Result<SeccompRule, Fault> {
        let bit = u64::from(flag.unsigned_abs());
        Ok(SeccompRule::new(vec![condition(0, SeccompCmpOp::MaskedEq(bit), bit)?])?)
    };
    flags.iter().map(rule).collect()
}

/// When `prlimit` is refused: for another process than the one that calls. Its watcher is one of the same user.
fn limits_of_others() -> Result<Vec<SeccompRule>, Fault> {
    Ok(vec![SeccompRule::new(vec![condition(0, SeccompCmpOp::Ne, 0)?])?])
}

fn personalities() -> Result<Vec<SeccompRule>, Fault> {
    let others = PERSONALITIES.iter().map(|known| condition(0, SeccompCmpOp::Ne, *known));
    Ok(vec![SeccompRule::new(others.collect::<Result<_, _>>()?)?])
}

/// When `ioctl` is refused where metadata is kept.
fn attributes() -> Result<Vec<SeccompRule>, Fault> {
    let rule = |command: &u64| -> Result<SeccompRule, Fault> {
        Ok(SeccompRule::new(vec![condition(1, SeccompCmpOp::Eq, *command)?])?)
    };
    SET_ATTRIBUTES.iter().map(rule).collect()
}

fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, Fault> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?)
}
