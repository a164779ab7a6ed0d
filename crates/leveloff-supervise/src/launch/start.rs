//! Starts the command: decides on the wiring, prepares terminal, taps and socket, starts the relay, and waits until the command
//! runs.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, bail};
use leveloff_model::process::{Pid, printable};
use leveloff_sampler::proc_root::ProcRoot;
use rustix::event::{PollFd, PollFlags};
use rustix::process::PidfdFlags;

use super::Launch;
use super::child_limit::ChildLimit;
use super::executable;
use super::message::{Incoming, Link, ToFront};
use super::plan::{Plan, RELAY_ARGUMENT, RELAY_NAME};
use super::signals::{self, Signals};
use super::sys::{self, InheritedSignals, ProcessGroup};
use super::terminal_pair::TerminalPair;
use super::wiring::{Mode, Stream, Wire, Wiring};

/// The capacity of the pipes for copies of the output, if the system allows it.
const TAP_CAPACITY: usize = 256 << 10;

/// Starts the command within its limit, with `variables` added to our own. A terminal of ours is taken over until the command ends.
pub fn launch(
    command: &[OsString],
    variables: &[(OsString, OsString)],
    limit: Option<&ChildLimit>,
) -> anyhow::Result<Launch> {
    let name = name_of(command)?;
    let inherited = InheritedSignals::of_this_process();
    let wiring = wiring_of_this_process();
    let signals = Signals::catch(inherited).context("cannot catch signals")?;
    // Orphans of the command's tree become our children, so that they are still found; if this is refused, they go where they
    // would go without us.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let output_files = output_files();
    let (mut link, relay_link) = Link::pair().context("cannot create a socket")?;
    let mut terminals = new_terminal_pair(wiring).context("cannot create a terminal")?;
    if let Some(terminals) = &mut terminals {
        terminals
            .follow_job(&mut link)
            .context("cannot set up the terminal")?;
    }
    let (taps, relay_taps) = new_taps(wiring).context("cannot create a pipe")?;
    let plan = Plan {
        command: command.to_vec(),
        variables: variables.to_vec(),
        wiring,
        own_session: wiring.mode == Mode::Terminal || leads_terminal_session(),
        foreground: terminals.as_ref().is_some_and(TerminalPair::is_taken_over),
        signals: inherited,
        limit: limit.map(|limit| limit.map(AsRawFd::as_raw_fd)),
        link: relay_link.as_fd().as_raw_fd(),
        master: terminals.as_ref().map(|both| both.master().as_raw_fd()),
        taps: relay_taps
            .each_ref()
            .map(|tap| tap.as_ref().map(AsRawFd::as_raw_fd)),
    };
    let relay = start_relay(&plan).context("cannot start the output relay")?;
    drop((relay_link, relay_taps));
    let child = match wait_for_start(&mut link)? {
        ToFront::Started(pid) => Pid(pid),
        ToFront::StartFailed(errno) => {
            let relay = rustix::process::Pid::from_raw(relay.0);
            let _ = rustix::process::waitpid(relay, rustix::process::WaitOptions::empty());
            bail!(cannot_start(name, errno))
        }
        other => bail!("the output relay answered {other:?}"),
    };
    release_streams(wiring).context("cannot open /dev/null")?;
    let mut launch = Launch {
        child,
        relay,
        mode: wiring.mode,
        has_own_session: plan.own_session,
        link: Some(link),
        child_handle: handle_of(child, relay),
        signals,
        terminals,
        taps,
        next_output_at: Instant::now(),
        outcome: None,
        relay_is_leaving: false,
        relay_is_reaped: false,
        output_files,
        stops_with_command: true,
    };
    launch.forward_early_signals();
    Ok(launch)
}

/// Starts the command away from the terminal: it reads nothing, and its output goes to `log`. The terminal stays ours.
pub fn launch_into(
    command: &[OsString],
    variables: &[(OsString, OsString)],
    limit: Option<&ChildLimit>,
    log: &File,
) -> anyhow::Result<Launch> {
    let redirected = RedirectedStreams::new(log).context("cannot redirect the command's output")?;
    let mut launch = launch(command, variables, limit)?;
    drop(redirected);
    launch.stops_with_command = false;
    Ok(launch)
}

/// Applies a limit to a process that does nothing, so that a refusal is known before the command is started.
pub fn try_limit(limit: &ChildLimit) -> io::Result<()> {
    let mut nothing = Command::new("/proc/self/exe");
    nothing.arg("--version").stdin(Stdio::null());
    nothing.stdout(Stdio::null()).stderr(Stdio::null());
    let signals = InheritedSignals::of_this_process();
    let limit = limit.map(AsFd::as_fd);
    sys::spawn_child(&mut nothing, signals, ProcessGroup::Ours, Some(limit))?.wait()?;
    Ok(())
}

/// Refuses a command that cannot be started, with the same error as [`launch`]. Needed where another program starts it.
pub fn check_command(command: &[OsString]) -> anyhow::Result<()> {
    let name = name_of(command)?;
    match executable::check(name, std::env::var_os("PATH").as_deref()) {
        Ok(()) => Ok(()),
        Err(error) => bail!(cannot_start(name, error.raw_os_error().unwrap_or(0))),
    }
}

fn name_of(command: &[OsString]) -> anyhow::Result<&OsStr> {
    let name = command
        .first()
        .context("no command to run; write it after --")?;
    Ok(name)
}

/// Redirects our own streams, which the command inherits. Dropping this restores them.
struct RedirectedStreams {
    ours: [OwnedFd; 3],
}

impl RedirectedStreams {
    fn new(log: &File) -> io::Result<RedirectedStreams> {
        let null = File::open("/dev/null")?;
        let ours = [
            rustix::stdio::stdin().try_clone_to_owned()?,
            rustix::stdio::stdout().try_clone_to_owned()?,
            rustix::stdio::stderr().try_clone_to_owned()?,
        ];
        let redirected = RedirectedStreams { ours };
        rustix::stdio::dup2_stdin(&null)?;
        rustix::stdio::dup2_stdout(log)?;
        rustix::stdio::dup2_stderr(log)?;
        Ok(redirected)
    }
}

impl Drop for RedirectedStreams {
    fn drop(&mut self) {
        let [stdin, stdout, stderr] = &self.ours;
        // Cannot fail: these descriptors are open.
        let _ = rustix::stdio::dup2_stdin(stdin);
        let _ = rustix::stdio::dup2_stdout(stdout);
        let _ = rustix::stdio::dup2_stderr(stderr);
    }
}

fn wiring_of_this_process() -> Wiring {
    let stdin = rustix::stdio::stdin();
    let controls = rustix::termios::tcgetpgrp(stdin).is_ok();
    Wiring::between(
        Stream::of(stdin),
        Stream::of(rustix::stdio::stdout()),
        Stream::of(rustix::stdio::stderr()),
        controls,
    )
}

/// When a session leader exits, the kernel sends SIGHUP to the foreground job of its terminal. If we are the leader, the command
/// must not be in our session.
fn leads_terminal_session() -> bool {
    let leads = sys::own_session() == Some(rustix::process::getpid());
    leads && std::fs::File::open("/dev/tty").is_ok()
}

fn new_terminal_pair(wiring: Wiring) -> io::Result<Option<TerminalPair>> {
    if !wiring.has_terminal() {
        return Ok(None);
    }
    let outer = match wiring.stdout {
        Wire::Terminal => rustix::stdio::stdout(),
        _ => rustix::stdio::stderr(),
    };
    // Keys are read from stdin: it is the same terminal, but stdout may not be open for reading.
    let takes_over = wiring.mode == Mode::Terminal;
    let outer = if takes_over {
        rustix::stdio::stdin()
    } else {
        outer
    };
    TerminalPair::new(outer, takes_over).map(Some)
}

type Taps = [Option<OwnedFd>; 2];

fn new_taps(wiring: Wiring) -> io::Result<(Taps, Taps)> {
    let mut ours = [None, None];
    let mut relays = [None, None];
    let both_on_terminal = wiring.stdout == Wire::Terminal && wiring.stderr == Wire::Terminal;
    let wanted = [
        wiring.stdout.has_channel(),
        wiring.stderr.has_channel() && !both_on_terminal,
    ];
    for i in (0..2).filter(|&i| wanted[i]) {
        let flags = rustix::pipe::PipeFlags::CLOEXEC | rustix::pipe::PipeFlags::NONBLOCK;
        let (reader, writer) = rustix::pipe::pipe_with(flags)?;
        // Refused if the user has many large pipes already; then less fits.
        let _ = rustix::pipe::fcntl_setpipe_size(&writer, TAP_CAPACITY);
        ours[i] = Some(reader);
        relays[i] = Some(writer);
    }
    Ok((ours, relays))
}

/// Executes this same program, even if its file has been replaced meanwhile.
fn start_relay(plan: &Plan) -> io::Result<Pid> {
    let plan_file = plan.write()?;
    let mut command = Command::new("/proc/self/exe");
    command.arg0(RELAY_NAME).arg(RELAY_ARGUMENT);
    command.arg(plan_file.as_raw_fd().to_string());
    let descriptors = plan.descriptors().chain([plan_file.as_raw_fd()]).collect();
    let relay = sys::spawn_relay(&mut command, descriptors)?;
    Ok(Pid(relay.id().cast_signed()))
}

fn wait_for_start(link: &mut Link) -> anyhow::Result<ToFront> {
    loop {
        match link.receive() {
            Incoming::Message(message) => return Ok(message),
            Incoming::Gone => bail!("the output relay ended before the command could be started"),
            Incoming::Nothing => {
                let mut look = [PollFd::new(&*link, PollFlags::IN)];
                match rustix::event::poll(&mut look, None) {
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(e) => bail!("cannot wait for the output relay: {e}"),
                }
            }
        }
    }
}

/// A pidfd of the command, if it is alive and still the relay's child.
fn handle_of(child: Pid, relay: Pid) -> Option<OwnedFd> {
    let pid = rustix::process::Pid::from_raw(child.0)?;
    let handle = rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok()?;
    (signals::parent(&ProcRoot::live(), child) == Some(relay)).then_some(handle)
}

/// Closes our copies of the command's streams: a writer to its stdin has to notice when the command closes it, and a reader of
/// its stdout has to see the end.
fn release_streams(wiring: Wiring) -> io::Result<()> {
    let null = open_null()?;
    if wiring.stdin == Wire::Inherited {
        rustix::stdio::dup2_stdin(&null)?;
    }
    if wiring.stdout == Wire::Pipe {
        rustix::stdio::dup2_stdout(&null)?;
    }
    Ok(())
}

/// `/dev/null`, open for reading and writing.
pub fn open_null() -> io::Result<File> {
    File::options().read(true).write(true).open("/dev/null")
}

fn output_files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = [rustix::stdio::stdout(), rustix::stdio::stderr()]
        .into_iter()
        .filter_map(regular_file)
        .collect();
    files.dedup();
    files
}

fn regular_file(descriptor: BorrowedFd<'_>) -> Option<PathBuf> {
    let stat = rustix::fs::fstat(descriptor).ok()?;
    let kind = rustix::fs::FileType::from_raw_mode(stat.st_mode);
    let path = std::fs::read_link(format!("/proc/self/fd/{}", descriptor.as_raw_fd())).ok()?;
    (kind == rustix::fs::FileType::RegularFile && path.exists()).then_some(path)
}

fn cannot_start(name: &OsStr, errno: i32) -> String {
    let error = io::Error::from_raw_os_error(errno);
    let printed = printable(name.as_bytes());
    let next = match error.kind() {
        io::ErrorKind::NotFound if Path::new(name).exists() => {
            "the file exists, but not the interpreter that its first line names"
        }
        io::ErrorKind::NotFound => "check the spelling, or give its path",
        io::ErrorKind::PermissionDenied => {
            "make it executable with chmod +x, or put its interpreter in front, such as python3"
        }
        _ => "check that it is a program for this machine",
    };
    format!("cannot start '{printed}': {error}; {next}")
}
