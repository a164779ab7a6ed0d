//! Processes of Ray: their sessions and titles.
//!
//! The raylet starts the workers of a program, so they are no descendants of it when the cluster was started before.
//! What they share is the session, a directory with a unique name. Servers have it on their command lines; a
//! program and its workers have a log in it open.

use leveloff_model::process::printable;

use super::base_name;

/// Ray's servers that are programs of their own.
const SERVERS: [&[u8]; 4] = [
    b"raylet",
    b"gcs_server",
    b"plasma_store",
    b"plasma_store_server",
];

/// Scripts in this directory are Ray's own.
const PACKAGE: &[u8] = b"/ray/";

/// A worker runs this script until it has given itself a title.
const WORKER_SCRIPTS: [&[u8]; 2] = [b"default_worker.py", b"setup_worker.py"];

/// Titles of Ray's processes begin with this.
pub(crate) const TITLE: &[u8] = b"ray::";

/// The title of a worker that has no task.
pub(crate) const IDLE: &[u8] = b"ray::IDLE";

/// The directory of a session is named after its time and the process that began it:
/// `session_2026-11-18_14-16-22_767891_20526`. Shorter names are others, such as the link `session_latest`.
const SESSION: &[u8] = b"session_";
const SHORTEST_SESSION: usize = b"session_2026-11-18_14-16-22_".len();

/// The log that a program and its workers keep open. A process that reads a session's other files is no part of it.
const CORE_LOG: &[u8] = b"/logs/python-core-";

/// What a process of Ray is by its command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RayProgram<'a> {
    /// A server, by its program or script.
    Server(&'a [u8]),
    /// A worker without a title yet, by its script.
    Worker(&'a [u8]),
}

/// The program or script of Ray that a command line runs.
pub(crate) fn program(command: &[Vec<u8>]) -> Option<RayProgram<'_>> {
    let program = base_name(command.first()?);
    if SERVERS.contains(&program) {
        return Some(RayProgram::Server(program));
    }
    let mut arguments = command.iter().skip(1);
    let script = arguments.find(|argument| !argument.starts_with(b"-"))?;
    let is_rays = memchr::memmem::find(script, PACKAGE).is_some() && script.ends_with(b".py");
    if !program.starts_with(b"python") || !is_rays || session_in(command).is_none() {
        return None;
    }
    let script = base_name(script);
    Some(match WORKER_SCRIPTS.contains(&script) {
        true => RayProgram::Worker(script),
        false => RayProgram::Server(script),
    })
}

/// The session that one of Ray's own programs names on its command line.
pub(crate) fn session_of_command(command: &[Vec<u8>]) -> Option<String> {
    program(command)?;
    session_in(command)
}

/// The session whose program or worker has this file open.
pub(crate) fn session_of_file(path: &[u8]) -> Option<String> {
    let log = memchr::memmem::find(path, CORE_LOG)?;
    session_name(base_name(&path[..log]))
}

/// The title without the method that an actor runs at the moment: `ray::Cache.add` is `ray::Cache`. Other
/// titles and names are left as they are.
pub(crate) fn steady_title(title: &[u8]) -> &[u8] {
    if !title.starts_with(TITLE) {
        return title;
    }
    let end = title.iter().position(|b| matches!(b, b'.' | b'('));
    &title[..end.unwrap_or(title.len())]
}

/// Whether a new name only shows what a worker of Ray does at the moment.
pub(crate) fn is_passing_title(before: &[u8], now: &[u8]) -> bool {
    let (was, is) = (steady_title(before), steady_title(now));
    before.starts_with(TITLE)
        && (now == IDLE || was == is || names_class(was) && names_function(is))
}

/// Whether a title is that of an actor, which is one for life: it begins with its class.
fn names_class(title: &[u8]) -> bool {
    let name = title.strip_prefix(TITLE).unwrap_or_default();
    let first = name.iter().find(|b| **b != b'_');
    title != IDLE && first.is_some_and(u8::is_ascii_uppercase)
}

/// Whether a title has a function alone. An actor has it while its method runs that is called so.
fn names_function(title: &[u8]) -> bool {
    let name = title.strip_prefix(TITLE).unwrap_or_default();
    let first = name.iter().find(|b| **b != b'_');
    first.is_some_and(u8::is_ascii_lowercase)
}

fn session_in(command: &[Vec<u8>]) -> Option<String> {
    command.iter().find_map(|argument| {
        let start = memchr::memmem::find(argument, SESSION)?;
        let end = argument[start..].iter().position(|&b| b == b'/');
        session_name(&argument[start..end.map_or(argument.len(), |end| start + end)])
    })
}

fn session_name(name: &[u8]) -> Option<String> {
    let date = name.strip_prefix(SESSION)?;
    let is_date = |b: &u8| b.is_ascii_digit() || matches!(b, b'-' | b'_');
    (name.len() >= SHORTEST_SESSION && date.iter().all(is_date)).then(|| printable(name))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAME: &str = "session_2026-11-18_14-16-22_767891_20526";

    fn command(words: &[&str]) -> Vec<Vec<u8>> {
        words.iter().map(|word| word.as_bytes().to_vec()).collect()
    }

    #[test]
    fn servers_name_their_session_and_programs_have_its_log_open() {
        let socket = format!("--raylet_socket_name=/tmp/ray/{NAME}/sockets/raylet");
        let raylet = command(&["/v/ray/core/src/ray/raylet/raylet", &socket]);
        assert_eq!(program(&raylet), Some(RayProgram::Server(b"raylet")));
        assert_eq!(session_of_command(&raylet).as_deref(), Some(NAME));
        let script = "/v/site-packages/ray/_private/workers/default_worker.py";
        let name = format!("--session-name={NAME}");
        let worker = command(&["python", "-u", script, "--node-ip-address=10.0.0.1", &name]);
        assert_eq!(
            program(&worker),
            Some(RayProgram::Worker(b"default_worker.py"))
        );
        assert_eq!(session_of_command(&worker).as_deref(), Some(NAME));
        let log = format!("/scratch/ray/{NAME}/logs/python-core-driver-01000000ffff_27044.log");
        assert_eq!(session_of_file(log.as_bytes()).as_deref(), Some(NAME));
    }

    #[test]
    fn a_reader_of_its_logs_is_no_part_of_a_session() {
        let log = format!("/tmp/ray/{NAME}/logs/raylet.out");
        assert_eq!(session_of_command(&command(&["tail", "-f", &log])), None);
        assert_eq!(session_of_file(log.as_bytes()), None);
        let own = command(&["python", "/home/a/ray/train.py", "--session=session_latest"]);
        assert_eq!(session_of_command(&own), None);
        assert_eq!(
            session_of_file(b"/tmp/ray/session_latest/logs/python-core-x"),
            None
        );
    }

    #[test]
    fn the_method_of_an_actor_is_passing() {
        assert_eq!(steady_title(b"ray::Cache.add"), b"ray::Cache");
        assert_eq!(steady_title(b"ray::load()"), b"ray::load");
        assert_eq!(steady_title(b"train.py"), b"train.py");
        assert!(is_passing_title(b"ray::Cache.add", b"ray::Cache"));
        assert!(is_passing_title(b"ray::load", b"ray::IDLE"));
        assert!(!is_passing_title(b"ray::IDLE", b"ray::Cache"));
        assert!(!is_passing_title(b"ray::Cache", b"ray::Rank"));
        assert!(is_passing_title(b"ray::RayTrainWo", b"ray::execute"));
        assert!(is_passing_title(b"ray::_Wrapped", b"ray::train"));
        assert!(!is_passing_title(b"ray::IDLE", b"ray::execute"));
        assert!(!is_passing_title(b"ray::load", b"ray::Cache"));
        assert!(!is_passing_title(b"python", b"ray::IDLE"));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = session_of_file(&text);
            let _ = session_of_command(&[text.clone(), text.clone()]);
            let _ = session_in(&[[SESSION, &text[..]].concat()]);
        }
    }
}
