//! `tee`: copies standard input to files and standard output. Flag: `-a`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

use crate::limits::BLOCK_BYTES;
use crate::options::parse;
use crate::{Context, Outcome};

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let Some(parsed) = parse(context.args, "a", &[("append", b'a')]) else { return Ok(Outcome::Fallthrough) };
    let append = parsed.has(b'a');
    let mut status = 0;
    let mut files: Vec<(Vec<u8>, File)> = Vec::new();
    for word in &parsed.operands {
        let mut options = OpenOptions::new();
        options.create(true).append(append).write(true).truncate(!append);
        match options.open(context.path(word)) {
            Ok(file) => files.push((word.to_vec(), file)),
            Err(error) => {
                context.complain_about(word, &error);
                status = 1;
            }
        }
    }
    let mut writes = true;
    let mut buffer = vec![0u8; BLOCK_BYTES];
    loop {
        let count = match context.input.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                context.complain(&[b"read error: ", crate::context::reason(&error).as_bytes()]);
                status = 1;
                break;
            }
        };
        let block = buffer.get(..count).unwrap_or_default();
        if writes && let Err(error) = context.output.write_all(block).and_then(|()| context.output.flush()) {
            // Without a reader it ends as by SIGPIPE; otherwise the files get the rest.
            if error.kind() == io::ErrorKind::BrokenPipe || (context.interrupted)() {
                return Err(error);
            }
            context.complain(&[b"'standard output': ", crate::context::reason(&error).as_bytes()]);
            (writes, status) = (false, 1);
        }
        let mut failed = Vec::new();
        files.retain_mut(|(name, file)| match file.write_all(block) {
            Ok(()) => true,
            Err(error) => {
                failed.push((name.clone(), error));
                false
            }
        });
        for (name, error) in failed {
            context.complain_about(&name, &error);
            status = 1;
        }
    }
    Ok(Outcome::Status(status))
}
