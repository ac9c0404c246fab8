//! The sandbox of a server: which policy, for which folders, carried from the server to its guardian as arguments. Both prepare the same plan: the
//! guardian to start workers under it, the server to say why something was denied.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use pithos_sandbox::{Contained, Context, Error, Machine, Plan, Policy};

/// A policy and what the names in it mean.
#[derive(Debug, Clone)]
pub struct Confinement {
    /// The policy.
    pub policy: Policy,
    /// What this machine can enforce of it.
    pub machine: Machine,
    /// `$workspace`.
    pub workspace: PathBuf,
    /// `$tmp`: exists and belongs to this server alone.
    pub private_tmp: PathBuf,
    /// Layers of overlays: exists, belongs to this server alone, and no session sees it.
    pub layers: PathBuf,
    /// `~`.
    pub home: Option<PathBuf>,
    /// The environment from which the policy picks.
    pub environment: Vec<(OsString, OsString)>,
}

impl Confinement {
    /// Prepares the plan, or says what this machine cannot enforce.
    pub(crate) fn prepare(&self) -> Result<Plan, Error> {
        Plan::prepare_shared(&self.policy(), &self.context(), &self.machine)
    }

    /// Whether the policy can be enforced here.
    ///
    /// # Errors
    /// When it cannot, and what is missing.
    pub fn check(&self) -> Result<(), crate::Error> {
        self.prepare().map(drop).map_err(crate::Error::Sandbox)
    }

    /// Puts this process's child into the sandbox that all workers share; see [`Plan::contain`].
    pub(crate) fn contain(&self) -> Result<Contained, Error> {
        Plan::contain(&self.policy(), &self.context(), &self.machine, Some(&self.layers))
    }

    fn policy(&self) -> Policy {
        let mut policy = self.policy.clone();
        // Workers are this very executable.
        policy.exec.extend(std::env::current_exe().ok());
        policy
    }

    fn context(&self) -> Context {
        Context {
            workspace: self.workspace.clone(),
            home: self.home.clone(),
            private_tmp: self.private_tmp.clone(),
            environment: self.environment.clone(),
        }
    }

    /// The arguments from which the guardian makes the same; the environment it inherits.
    pub(crate) fn arguments(&self) -> Result<Vec<String>, Error> {
        // What a message carries is text, and a path that is changed on the way would be another one.
        let text = |path: &PathBuf| {
            let wrong = || {
                Error::Policy(format!(
                    "{}: its name is no UTF-8, and only that can be passed on",
                    path.display()
                ))
            };
            path.to_str().map(str::to_owned).ok_or_else(wrong)
        };
        let machine =
            serde_json::to_string(&self.machine).map_err(|error| Error::Policy(error.to_string()))?;
        let mut arguments = vec![
            self.policy.to_toml()?,
            machine,
            text(&self.workspace)?,
            text(&self.private_tmp)?,
            text(&self.layers)?,
        ];
        arguments.extend(self.home.as_ref().map(text).transpose()?);
        Ok(arguments)
    }

    pub(crate) fn from_arguments(arguments: &[String]) -> io::Result<Self> {
        let [policy, machine, workspace, private_tmp, layers, home @ ..] = arguments else {
            return Err(io::Error::other("the guardian is started by the server only"));
        };
        Ok(Self {
            policy: Policy::from_toml(policy).map_err(io::Error::other)?,
            machine: serde_json::from_str(machine)?,
            workspace: workspace.into(),
            private_tmp: private_tmp.into(),
            layers: layers.into(),
            home: home.first().map(PathBuf::from),
            environment: std::env::vars_os().collect(),
        })
    }
}
