"""A real terminal to run a program in: tmux, which draws what the program sends and says what is seen."""

import os
import subprocess
import tempfile
import time

PATIENCE_S = 60


class Terminal:
    """A program in a terminal of this size, on a tmux server of its own."""

    def __init__(self, command, columns=80, rows=24, environment=None):
        self.directory = tempfile.TemporaryDirectory(prefix="leveloff-screen-")
        self.socket = os.path.join(self.directory.name, "tmux")
        setting = [f"{name}={value}" for name, value in (environment or {}).items()]
        # The shell stays, so that what is printed on leaving can be seen.
        shell = ["env", "-u", "NO_COLOR", "PS1=ready> ", *setting, "sh", "-i"]
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), *shell)
        self.tmux("set-option", "-g", "status", "off")
        self.tmux("set-option", "-g", "default-terminal", "tmux-256color")
        self.wait_for("ready>")
        if command:
            self.type(command)
            self.keys("Enter")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], check=False, stderr=subprocess.DEVNULL)
        self.directory.cleanup()

    def tmux(self, *arguments):
        command = ["tmux", "-S", self.socket, *arguments]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def keys(self, *keys):
        """Presses keys by tmux's names: Enter, Escape, C-c, Up."""
        self.tmux("send-keys", *keys)

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def screen(self, colours=False):
        return self.tmux("capture-pane", "-p", *(["-e"] if colours else []))

    def settled(self, colours=False):
        """The screen, once it has not changed for a second."""
        before = None
        while (now := self.screen(colours)) != before:
            before = now
            time.sleep(1)
        return now

    def wait_for(self, *texts, gone=()):
        """Waits until all of the texts are on the screen, and none of those that must be gone."""
        give_up = time.monotonic() + PATIENCE_S
        while True:
            screen = self.screen()
            if all(text in screen for text in texts) and not any(text in screen for text in gone):
                return screen
            if time.monotonic() > give_up:
                wanted = " and ".join(map(repr, texts)) + "".join(f" without {text!r}" for text in gone)
                raise AssertionError(f"{wanted} did not appear; the screen is\n{screen}")
            time.sleep(0.05)
