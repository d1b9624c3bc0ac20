//! What a caller needs for a route or a tool, and the one place where it is checked.

use nacre_ops::OpError;
use nacre_ops::host::not_allowed;
use nacre_ops::people::{AccessScope, Caller};

/// What somebody must be allowed to do who asks for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permit {
    /// Anybody who reaches the server: it tells nothing of a project's and nothing of a person's.
    Anybody,
    /// In the project that is asked about. Lists hold what is readable.
    Read,
    Write,
    Admin,
    /// It concerns the machine as a whole, or belongs to its owner: admin of everything.
    Machine,
}

impl Permit {
    /// As the description of the API says it, which a test writes.
    #[cfg(test)]
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Anybody => "none",
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
            Self::Machine => "admin of all projects",
        }
    }

    /// What must be allowed in a project; to the caller there are no others.
    pub(crate) fn scope(self) -> AccessScope {
        match self {
            Self::Anybody | Self::Read => AccessScope::Read,
            Self::Write => AccessScope::Write,
            Self::Admin | Self::Machine => AccessScope::Admin,
        }
    }

    /// Refuses a caller. Of a project that they may not read nothing is said here: to them it is not in the register, and the answer
    /// is the one for a name that nobody has.
    pub(crate) fn check(self, caller: &Caller, project: Option<&str>) -> Result<(), OpError> {
        let (permissions, scope) = (&caller.permissions, self.scope());
        let is_allowed = match (self, project) {
            (Self::Anybody, _) => true,
            (Self::Machine, _) => permissions.allow_everything(),
            (Self::Read | Self::Write | Self::Admin, None) => permissions.allow_anywhere(scope),
            (Self::Read | Self::Write | Self::Admin, Some(project)) => {
                let is_known = permissions.allow(project, AccessScope::Read);
                !is_known || permissions.allow(project, scope)
            }
        };
        match is_allowed {
            true => Ok(()),
            false => Err(not_allowed(scope, project.filter(|_| self != Self::Machine))),
        }
    }
}

#[cfg(test)]
mod tests {
    use nacre_ops::people::Permissions;

    use super::*;

    #[test]
    fn a_project_that_cannot_be_read_is_not_mentioned() {
        let permissions = Permissions::default()
            .with("pearl", AccessScope::Write)
            .with("shell", AccessScope::Read);
        let ana = Caller::with_token("1", "ana", permissions);
        let said = |permit: Permit, project| {
            permit.check(&ana, project).err().map(|error| error.message).unwrap_or_default()
        };
        assert_eq!(said(Permit::Write, Some("pearl")), "");
        assert_eq!(said(Permit::Write, Some("shell")), "This needs the scope `write` in `shell`");
        // Whether it exists or not.
        assert_eq!(said(Permit::Write, Some("other")), "");
        assert_eq!(said(Permit::Write, None), "");
        assert_eq!(said(Permit::Admin, None), "This needs the scope `admin`");
        assert_eq!(said(Permit::Machine, Some("other")), "This needs the scope `admin`");
        assert!(Permit::Machine.check(&Caller::owner(), None).is_ok());
        let nobody = Caller::nobody();
        assert!(Permit::Read.check(&nobody, None).is_err());
        assert!(Permit::Anybody.check(&nobody, None).is_ok());
    }
}
