//! `wait`.

use crate::exec::jobs::{FindError, JobState};
use crate::expand::split_subscript;
use crate::state::names::is_name;
use crate::state::options::SetOption;
use crate::{Bytes, Outcome, Session, Status, Unwind, sys};

/// `wait [-fn] [-p var] [id ...]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let (mut any, mut name) = (false, None);
    let mut at = 1;
    while let Some(word) = args.get(at) {
        if word == b"--" {
            at += 1;
            break;
        }
        if !word.starts_with(b"-") || word.len() < 2 {
            break;
        }
        for (n, letter) in word.iter().enumerate().skip(1) {
            match letter {
                b'n' => any = true,
                b'f' => {}
                b'p' => {
                    let rest = &word[n + 1..];
                    if rest.is_empty() {
                        at += 1;
                        name = args.get(at).cloned();
                        if name.is_none() {
                            session.builtin_error(b"wait", "-p: option requires an argument");
                            return Ok(session.builtin_usage(b"wait", None));
                        }
                    } else {
                        name = Some(rest.to_vec());
                    }
                    break;
                }
                _ => return Ok(session.builtin_usage(b"wait", Some(&[b'-', *letter]))),
            }
        }
        at += 1;
    }
    let ids = args.get(at..).unwrap_or_default();
    if let Some(name) = name.as_ref().filter(|name| !is_name(name) && split_subscript(name).is_none()) {
        session.builtin_error(b"wait", [b"`", &name[..], b"': not a valid identifier"].concat());
        return Ok(1);
    }
    if let Some(name) = &name {
        let id = session.variables.intern(name);
        session.variables.unset(id, None);
    }
    if any {
        return wait_next(session, ids, name.as_deref());
    }
    if ids.is_empty() {
        return wait_all(session);
    }
    let mut status = 0;
    for id in ids {
        status = wait_one(session, id, name.as_deref())?;
    }
    Ok(status)
}

/// The pid that an operand names, or the status of an error.
fn resolve(session: &mut Session, id: &[u8]) -> Result<i32, Status> {
    if let Some(spec) = id.strip_prefix(b"%") {
        return match session.jobs.find(spec) {
            Ok(number) => {
                let job = session.jobs.list.iter().find(|j| j.number == number);
                job.map(|j| j.pid).ok_or(127)
            }
            Err(error) => {
                let mut message = id.to_vec();
                message.extend_from_slice(match error {
                    FindError::None => b": no such job",
                    FindError::Ambiguous => b": ambiguous job spec",
                });
                session.builtin_error(b"wait", message);
                Err(127)
            }
        };
    }
    match std::str::from_utf8(id).ok().and_then(|t| t.parse::<i32>().ok()).filter(|n| *n >= 0) {
        Some(pid) => Ok(pid),
        None => {
            let mut message = b"`".to_vec();
            message.extend_from_slice(id);
            message.extend_from_slice(b"': not a pid or valid job spec");
            session.builtin_error(b"wait", message);
            Err(1)
        }
    }
}

fn wait_one(session: &mut Session, id: &[u8], name: Option<&[u8]>) -> Outcome {
    let pid = match resolve(session, id) {
        Ok(pid) => pid,
        Err(status) => return Ok(status),
    };
    if !session.jobs.list.iter().any(|j| j.pid == pid && !j.foreign) {
        if let Some(status) = session.take_ended(pid) {
            return Ok(status);
        }
        let foreign = session.jobs.list.iter().any(|job| job.pid == pid);
        if foreign || !session.is_own_child(pid) {
            session.builtin_error(b"wait", format!("pid {pid} is not a child of this shell"));
            return Ok(127);
        }
    }
    let status = wait_for_pid(session, pid)?;
    set_name(session, name, pid);
    Ok(status)
}

fn set_name(session: &mut Session, name: Option<&[u8]>, pid: i32) {
    if let Some(name) = name {
        let _ = session.set(name, pid.to_string().into_bytes());
    }
}

fn wait_for_pid(session: &mut Session, pid: i32) -> Outcome {
    loop {
        let job = session.jobs.list.iter().find(|j| j.pid == pid);
        let text = job.map(|j| j.text.clone()).unwrap_or_default();
        match job.map(|j| (j.state, j.number)) {
            Some((JobState::Done(status), number)) => {
                session.jobs.remove(number);
                session.remember_ended(pid, status);
                session.report_job_signal(pid, status, &text);
                return Ok(sys::shell_status(status));
            }
            Some((JobState::Stopped(signal), _)) if session.is(SetOption::Monitor) => return Ok(128 + signal),
            Some(_) => {}
            None => {
                if let Some(status) = session.take_ended(pid) {
                    return Ok(status);
                }
            }
        }
        if let Err(error) = session.wait_any_child() {
            if error == libc::EINTR {
                if let Some(status) = interrupted(session)? {
                    return Ok(status);
                }
                continue;
            }
            return Ok(session.take_ended(pid).unwrap_or(127));
        }
    }
}

/// A signal arrived while waiting: if it is trapped, `wait` ends with 128 + n after the trap ran.
fn interrupted(session: &mut Session) -> Result<Option<Status>, Unwind> {
    if sys::fatal_pending().is_some() {
        session.run_pending_traps()?;
    }
    let pending = sys::take_pending_signals();
    let Some(signal) = (1..64).find(|n| pending >> (n - 1) & 1 != 0) else { return Ok(None) };
    for n in 1..64 {
        if pending >> (n - 1) & 1 != 0 {
            sys::raise_pending(n);
        }
    }
    session.run_pending_traps()?;
    if signal == libc::SIGCHLD {
        return Ok(None);
    }
    Ok(Some(128 + signal))
}

fn wait_all(session: &mut Session) -> Outcome {
    loop {
        let running = session.jobs.list.iter().any(|j| !j.foreign && j.state == JobState::Running);
        if !running {
            break;
        }
        if let Err(error) = session.wait_any_child() {
            if error != libc::EINTR {
                break;
            }
            if let Some(status) = interrupted(session)? {
                return Ok(status);
            }
        }
    }
    session.forget_done_jobs();
    // A signal that came together with the last child's end has interrupted the wait all the same.
    if session.traps.has_arrived()
        && let Some(status) = interrupted(session)?
    {
        return Ok(status);
    }
    Ok(0)
}

/// `wait -n`
fn wait_next(session: &mut Session, ids: &[Bytes], name: Option<&[u8]>) -> Outcome {
    let mut pids = Vec::new();
    for id in ids {
        if id.starts_with(b"%") {
            pids.extend(resolve(session, id));
            continue;
        }
        let number: Option<i32> = std::str::from_utf8(id).ok().and_then(|text| text.parse().ok());
        match number.filter(|pid| session.jobs.list.iter().any(|job| job.pid == *pid)) {
            Some(pid) => pids.push(pid),
            None => session.builtin_error(b"wait", [&id[..], b": no such job"].concat()),
        }
    }
    if pids.is_empty() && !ids.is_empty() {
        return Ok(127);
    }
    loop {
        let done = session.jobs.list.iter().find_map(|j| match j.state {
            JobState::Done(status) if !j.foreign && (pids.is_empty() || pids.contains(&j.pid)) => {
                Some((j.number, j.pid, status))
            }
            _ => None,
        });
        if let Some((number, pid, status)) = done {
            session.jobs.remove(number);
            set_name(session, name, pid);
            return Ok(sys::shell_status(status));
        }
        let any = session.jobs.list.iter().any(|j| {
            !j.foreign && j.state == JobState::Running && (pids.is_empty() || pids.contains(&j.pid))
        });
        if !any {
            return Ok(127);
        }
        if let Err(error) = session.wait_any_child() {
            if error != libc::EINTR {
                return Ok(127);
            }
            if let Some(status) = interrupted(session)? {
                return Ok(status);
            }
        }
    }
}
