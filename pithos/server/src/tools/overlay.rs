//! What the `session` tool does with overlaid sessions: diff, undo, commit, discard, checkpoint, restore; and what a run's result says of the files it changed.

use std::path::{Path, PathBuf};

use pithos_sessions::limits::{CHANGED_LISTED_MAX, OUTPUT_BYTES_DEFAULT, OUTPUT_BYTES_MAX};
use pithos_sessions::{Checkpoint, Manager, Session, UndoTo};
use serde::Serialize;
use serde_json::{Value, json};

use crate::result::Report;

/// Of the jobs that had run at a checkpoint, so many are listed: the last ones.
const JOBS_SHOWN: usize = 20;

/// A change with its path as the session names it.
fn row(root: &Path, change: &impl Serialize) -> Value {
    let mut row = serde_json::to_value(change).unwrap_or_default();
    if let Some(path) = row["path"].as_str() {
        let full = root.display().to_string();
        row["path"] = json!(if path.is_empty() { full } else { format!("{full}/{path}") });
    }
    row
}

fn rows(list: &[(PathBuf, impl Serialize)], most: usize) -> Vec<Value> {
    list.iter().take(most).map(|(root, change)| row(root, change)).collect()
}

/// What cannot be expected of a session with snapshots.
pub(super) fn snapshot_note(why: &str) -> String {
    format!("no overlay ({why}): runs change the workspace itself, and undo goes back by copies of it")
}

/// Adds what the call of a job changed to its report.
pub(super) async fn tell_changes(manager: &Manager, session: &Session, job: &str, report: &mut Report) {
    let Some(changed) = manager.changed(&session.handle, job).await else { return };
    let listed = rows(&changed.changes, CHANGED_LISTED_MAX);
    let mut told = json!({"count": changed.changes.len(), "files": listed, "undo": session.undo()});
    if let Some(why) = &changed.not_kept {
        told["undo"] = json!("none");
        told["undo_note"] = json!(why);
    }
    if !changed.changes.is_empty() {
        let names: Vec<String> = listed
            .iter()
            .take(5)
            .filter_map(|row| Some(format!("{} {}", row["change"].as_str()?, row["path"].as_str()?)))
            .collect();
        let more = changed.changes.len().saturating_sub(names.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        report.text.push_str(&format!("[changed: {}{more}]\n", names.join(", ")));
    }
    report.structured["changed"] = told;
}

pub(super) async fn diff(manager: &Manager, session: &str, bytes: Option<usize>) -> Result<Report, String> {
    let bytes = bytes.unwrap_or(OUTPUT_BYTES_DEFAULT).min(OUTPUT_BYTES_MAX);
    let found = manager.diff(session, bytes).await.map_err(|error| error.to_string())?;
    let mut text = found.text;
    if found.count == 0 {
        text.push_str("[no changes]\n");
    }
    if found.truncated {
        text.push_str("[not all changes are shown: the list has them, and output_bytes shows more]\n");
    }
    let structured = json!({
        "session": session,
        "count": found.count,
        "added": found.added,
        "removed": found.removed,
        "truncated": found.truncated,
        "files": rows(&found.changes, found.changes.len()),
    });
    Ok(Report { structured, text })
}

pub(super) async fn undo(manager: &Manager, session: &str, job: Option<String>) -> Result<Report, String> {
    let to = job.map_or(UndoTo::Last, UndoTo::Job);
    let undone = manager.undo(session, to).await.map_err(|error| error.to_string())?;
    let text = format!("undone: {}\n", undone.join(", "));
    Ok(Report { structured: json!({"session": session, "undone": undone}), text })
}

pub(super) async fn commit(manager: &Manager, session: &str, paths: &[String]) -> Result<Report, String> {
    let done = manager.commit(session, paths).await.map_err(|error| error.to_string())?;
    let committed = done.conflicts.is_empty();
    let mut text = String::new();
    for (root, conflict) in &done.conflicts {
        text.push_str(&format!(
            "conflict: {}: {}\n",
            root.join(conflict.path.path()).display(),
            conflict.why
        ));
    }
    text.push_str(&if committed {
        format!("committed: {} change(s)\n", done.done.len())
    } else {
        "nothing was committed: commit other paths, or discard these and do them again\n".to_owned()
    });
    text.push_str(&gone(&done.checkpoints));
    for path in &done.protected_created {
        text.push_str(&format!("[programs outside may obey {}: look at it, or remove it]\n", path.display()));
    }
    let structured = json!({
        "session": session,
        "checkpoints_gone": done.checkpoints,
        "committed": committed,
        "count": done.done.len(),
        "files": rows(&done.done, CHANGED_LISTED_MAX),
        "conflicts": rows(&done.conflicts, done.conflicts.len()),
        "protected_created": done.protected_created,
    });
    Ok(Report { structured, text })
}

pub(super) async fn discard(manager: &Manager, session: &str, paths: &[String]) -> Result<Report, String> {
    manager.discard(session, paths).await.map_err(|error| error.to_string())?;
    Ok(Report { structured: json!({"session": session}), text: "discarded\n".to_owned() })
}

/// A word about checkpoints that there are no more.
fn gone(checkpoints: &[String]) -> String {
    match checkpoints {
        [] => String::new(),
        names => format!("[gone with it: the checkpoints {}]\n", names.join(", ")),
    }
}

/// A checkpoint as a row of lists.
fn checkpoint_row(one: &Checkpoint) -> Value {
    json!({
        "checkpoint": one.handle,
        "session": one.session,
        "named": one.named,
        "created_s": one.created_s,
        "expires_s": one.expires_s,
        "bytes": one.bytes,
        "files": one.files,
        "damaged": one.damaged,
    })
}

pub(super) async fn checkpoint(
    manager: &Manager,
    session: &str,
    name: Option<&str>,
    ttl_s: Option<u64>,
) -> Result<Report, String> {
    let made = manager.checkpoint(session, name, ttl_s).await.map_err(|error| error.to_string())?;
    Ok(Report { structured: checkpoint_row(&made), text: format!("{}\n", made.handle) })
}

pub(super) async fn checkpoints(manager: &Manager) -> Result<Report, String> {
    let all = manager.checkpoints().await.map_err(|error| error.to_string())?;
    let line = |one: &Checkpoint| {
        let damaged = if one.damaged { "  (damaged)" } else { "" };
        format!("{}  of {}  {} files, {} bytes{damaged}\n", one.handle, one.session, one.files, one.bytes)
    };
    let rows: Vec<Value> = all.iter().map(checkpoint_row).collect();
    Ok(Report { structured: json!({"checkpoints": rows}), text: all.iter().map(line).collect() })
}

pub(super) async fn delete(manager: &Manager, checkpoint: &str) -> Result<Report, String> {
    manager.delete_checkpoint(checkpoint).await.map_err(|error| error.to_string())?;
    Ok(Report { structured: json!({"checkpoint": checkpoint}), text: "deleted\n".to_owned() })
}

pub(super) async fn restore(manager: &Manager, session: &str, checkpoint: &str) -> Result<Report, String> {
    let jobs = manager.restore(session, checkpoint).await.map_err(|error| error.to_string())?;
    let text = format!("as at {checkpoint}, after {} job(s)\n", jobs.len());
    let shown = &jobs[jobs.len().saturating_sub(JOBS_SHOWN)..];
    Ok(Report { structured: json!({"session": session, "checkpoint": checkpoint, "jobs": shown}), text })
}
