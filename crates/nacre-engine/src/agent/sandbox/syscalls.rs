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
    libc::SYS_kcmp,
    // Another view of the file system.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
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
    libc::SYS_quotactl,
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
];

/// The second set of numbers of an x86-64 kernel: the same calls with this bit, and some with numbers of their own.
/// A filter of plain numbers does not see them.
#[cfg(target_arch = "x86_64")]
const X32_BIT: i64 = 0x4000_0000;
#[cfg(target_arch = "x86_64")]
const X32_OWN: &[i64] = &[
    521, // ptrace
    528, // kexec_load
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

fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, Fault> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?)
}
