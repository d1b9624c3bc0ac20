//! The people who may ask a server, and what is said to somebody who may not.

use nacre_api::wire::ErrorCode;
use nacre_core::people::{AccessScope, LocalPeople, PeopleStore};
use nacre_core::safefs::{Access, WriteScope};
use nacre_postgres::people::SharedPeople;

use super::Host;
use crate::error::OpError;

impl Host {
    /// The project that was named with the command, where it is registered.
    pub fn named_project(&self) -> Option<&str> {
        let project = self.project.as_ref().filter(|_| self.named_folder.is_some())?;
        project.name.as_deref()
    }

    /// The people of this server, or of all that share its database; `None` while nobody was given a token.
    pub fn people(&self) -> Result<Option<Box<dyn PeopleStore + Send>>, OpError> {
        if let Some(database) = self.database()? {
            return Ok(Some(Box::new(SharedPeople::open(&database)?)));
        }
        let home = match WriteScope::open(self.home()?, Access::Private) {
            Err(error) if error.is_missing() => return Ok(None),
            home => home?,
        };
        let people = LocalPeople::open_existing(&home)?;
        Ok(people.map(|people| Box::new(people) as Box<dyn PeopleStore + Send>))
    }

    /// The same, made where they are missing.
    pub fn people_to_change(&self) -> Result<Box<dyn PeopleStore + Send>, OpError> {
        if let Some(database) = self.database()? {
            return Ok(Box::new(SharedPeople::open(&database)?));
        }
        let (owner, wait) = (self.owner("server token"), self.settings().lock.wait);
        Ok(Box::new(LocalPeople::open(&self.home_scope()?, &owner, wait)?))
    }
}

/// What a caller is told who may not do something: of a project that they may read, or of the server as a whole.
pub fn not_allowed(scope: AccessScope, project: Option<&str>) -> OpError {
    let scope = scope.as_str();
    let message = match project {
        Some(project) => format!("This needs the scope `{scope}` in `{project}`"),
        None => format!("This needs the scope `{scope}`"),
    };
    OpError { code: ErrorCode::Refused, ..OpError::failed(message) }
        .hint("Ask whoever runs the server for a token with that scope")
}
