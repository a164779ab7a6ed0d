//! The front's part of starting the command: looks at what it was given, prepares terminal, taps
//! and socket, starts the relay, and waits until the command runs.

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
use super::edge::{self, InheritedSignals, Place};
use super::entrance::Entrance;
use super::message::{Incoming, Link, ToFront};
use super::outer::Terminals;
use super::plan::{Plan, RELAY_ARGUMENT, RELAY_NAME};
use super::program;
use super::serve;
use super::signals::{self, Signals};
use super::wiring::{Mode, Stream, Wire, Wiring};

/// How much output waits for the front between two looks, if the system lets us have that much.
const TAP_CAPACITY: usize = 256 << 10;

/// See [`super::launch`].
pub fn launch(command: &[OsString], entrance: Option<&Entrance>) -> anyhow::Result<Launch> {
    let name = name_of(command)?;
    let inherited = InheritedSignals::of_this_process();
    let wiring = wiring_of_this_process();
    let signals = Signals::catch(inherited).context("cannot catch signals")?;
    // Orphans of the command's tree come to us, so that they are still found; if that is refused,
    // they go where they would have gone.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let output_files = output_files();
    let (mut link, relays_end) = Link::pair().context("cannot create a socket")?;
    let mut terminals = new_terminals(wiring).context("cannot create a terminal")?;
    if let Some(terminals) = &mut terminals {
        terminals
            .follow_job(&mut link)
            .context("cannot set up the terminal")?;
    }
    let (taps, relays_taps) = new_taps(wiring).context("cannot create a pipe")?;
    let plan = Plan {
        command: command.to_vec(),
        wiring,
        apart: wiring.mode == Mode::Terminal || leads_terminal_session(),
        foreground: terminals.as_ref().is_some_and(Terminals::is_taken_over),
        signals: inherited,
        entrance: entrance.map(Entrance::numbered),
        link: relays_end.as_fd().as_raw_fd(),
        master: terminals.as_ref().map(|both| both.master().as_raw_fd()),
        taps: relays_taps
            .each_ref()
            .map(|tap| tap.as_ref().map(AsRawFd::as_raw_fd)),
    };
    let relay = start_relay(&plan).context("cannot start the output relay")?;
    drop((relays_end, relays_taps));
    let child = match wait_for_start(&mut link)? {
        ToFront::Started(pid) => Pid(pid),
        ToFront::StartFailed(errno) => {
            let relay = rustix::process::Pid::from_raw(relay.0);
            let _ = rustix::process::waitpid(relay, rustix::process::WaitOptions::empty());
            bail!(cannot_start(name, errno))
        }
        other => bail!("the output relay answered {other:?}"),
    };
    let_go_of_users_streams(wiring).context("cannot open /dev/null")?;
    let mut launch = Launch {
        child,
        relay,
        mode: wiring.mode,
        is_apart: plan.apart,
        link: Some(link),
        child_handle: handle_of(child, relay),
        signals,
        terminals,
        taps,
        next_look_at_taps: Instant::now(),
        dropped: 0,
        outcome: None,
        relay_is_leaving: false,
        relay_is_reaped: false,
        output_files,
        stops_with_command: true,
    };
    serve::catch_up(&mut launch);
    Ok(launch)
}

/// See [`super::launch_into`].
pub fn launch_into(
    command: &[OsString],
    entrance: Option<&Entrance>,
    log: &File,
) -> anyhow::Result<Launch> {
    let lent = LentStreams::new(log).context("cannot redirect the command's output")?;
    let mut launch = launch(command, entrance)?;
    drop(lent);
    launch.stops_with_command = false;
    Ok(launch)
}

/// See [`super::try_entrance`].
pub fn try_entrance(entrance: &Entrance) -> io::Result<()> {
    let mut nothing = Command::new("/proc/self/exe");
    nothing.arg("--version").stdin(Stdio::null());
    nothing.stdout(Stdio::null()).stderr(Stdio::null());
    let signals = InheritedSignals::of_this_process();
    let place = Place::OurGroup;
    edge::spawn_child(&mut nothing, signals, place, Some(entrance.lent()))?.wait()?;
    Ok(())
}

/// See [`super::check_command`].
pub fn check_command(command: &[OsString]) -> anyhow::Result<()> {
    let name = name_of(command)?;
    match program::check(name, std::env::var_os("PATH").as_deref()) {
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

/// The command gets what our own streams are when it is started. Dropping this puts ours back.
struct LentStreams {
    ours: [OwnedFd; 3],
}

impl LentStreams {
    fn new(log: &File) -> io::Result<LentStreams> {
        let null = File::open("/dev/null")?;
        let ours = [
            rustix::stdio::stdin().try_clone_to_owned()?,
            rustix::stdio::stdout().try_clone_to_owned()?,
            rustix::stdio::stderr().try_clone_to_owned()?,
        ];
        let lent = LentStreams { ours };
        rustix::stdio::dup2_stdin(&null)?;
        rustix::stdio::dup2_stdout(log)?;
        rustix::stdio::dup2_stderr(log)?;
        Ok(lent)
    }
}

impl Drop for LentStreams {
    fn drop(&mut self) {
        let [stdin, stdout, stderr] = &self.ours;
        // These numbers are open, so nothing can be in the way.
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

/// The kernel hangs up on the whole job in front of a terminal when its session's leader dies. If
/// that is us, the command must not be in our session.
fn leads_terminal_session() -> bool {
    let leads = edge::own_session() == Some(rustix::process::getpid());
    leads && std::fs::File::open("/dev/tty").is_ok()
}

fn new_terminals(wiring: Wiring) -> io::Result<Option<Terminals>> {
    if !wiring.has_terminal() {
        return Ok(None);
    }
    let outer = match wiring.stdout {
        Wire::Terminal => rustix::stdio::stdout(),
        _ => rustix::stdio::stderr(),
    };
    // Keys are read from stdin, which is the same terminal but may be open for reading only there.
    let takes_over = wiring.mode == Mode::Terminal;
    let outer = if takes_over {
        rustix::stdio::stdin()
    } else {
        outer
    };
    Terminals::new(outer, takes_over).map(Some)
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
        // Refused when the user has many pipes already; then less fits.
        let _ = rustix::pipe::fcntl_setpipe_size(&writer, TAP_CAPACITY);
        ours[i] = Some(reader);
        relays[i] = Some(writer);
    }
    Ok((ours, relays))
}

/// Executes this very program anew, even if its file has been replaced meanwhile.
fn start_relay(plan: &Plan) -> io::Result<Pid> {
    let plan_file = plan.write()?;
    let mut command = Command::new("/proc/self/exe");
    command.arg0(RELAY_NAME).arg(RELAY_ARGUMENT);
    command.arg(plan_file.as_raw_fd().to_string());
    let descriptors = plan.descriptors().chain([plan_file.as_raw_fd()]).collect();
    let relay = edge::spawn_relay(&mut command, descriptors)?;
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

/// A handle that can only ever mean this process, if it is still there and still the relay's.
fn handle_of(child: Pid, relay: Pid) -> Option<OwnedFd> {
    let pid = rustix::process::Pid::from_raw(child.0)?;
    let handle = rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok()?;
    (signals::parent(&ProcRoot::live(), child) == Some(relay)).then_some(handle)
}

/// A writer to the command's stdin has to notice when the command closes it, and a reader of its
/// stdout has to see the end when the command does; so we must not hold them open.
fn let_go_of_users_streams(wiring: Wiring) -> io::Result<()> {
    let null = std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/null")?;
    if wiring.stdin == Wire::Inherited {
        rustix::stdio::dup2_stdin(&null)?;
    }
    if wiring.stdout == Wire::Pipe {
        rustix::stdio::dup2_stdout(&null)?;
    }
    Ok(())
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
            "the file is there, but not the interpreter that its first line names"
        }
        io::ErrorKind::NotFound => "check the spelling, or give its path",
        io::ErrorKind::PermissionDenied => {
            "make it executable with chmod +x, or put its interpreter in front, such as python3"
        }
        _ => "check that it is a program for this machine",
    };
    format!("cannot start '{printed}': {error}; {next}")
}
