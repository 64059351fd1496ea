"""A program in a process of its own that can be killed at any point, together with all processes it started.

Victims are forked from a server that has imported what they need, so that hundreds of them take minutes.
"""

import contextlib
import ctypes
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

# What Python's audit hooks are told before the file system is changed or a file is written.
CHANGES = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "shutil.rmtree", "shutil.copyfile")

# <linux/capability.h>: passing by the modes of files.
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2
CAPABILITY_VERSION = 0x20080522

_processes = get_context("forkserver")
_processes.set_forkserver_preload(["tests.survival.preloaded"])


class Setting(NamedTuple):
    """Where a victim runs."""

    cwd: Path
    env: Mapping[str, str]
    log: Path
    """Takes all that it says."""
    watched: Path
    """Its changes below this folder are counted."""
    answer: str = ""
    """What it reads from its standard input."""


class Ended(NamedTuple):
    """How a victim ended."""

    status: int
    """Its exit status, or minus the signal that killed it."""
    changes: int
    """How many changes it made, or was about to make, when it ended."""
    said: str


class Victim:
    """A running program."""

    def __init__(self, process, setting: Setting, changes):
        self._process, self._setting, self._changes = process, setting, changes

    def kill(self) -> None:
        """Kill it and all processes it started, as the kernel does when memory is short: no handler runs."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def wait(self, seconds: float = 300) -> Ended:
        """Wait for its end. Raises `TimeoutError` with what it said if it does not come."""
        self._process.join(seconds)
        said = self._setting.log.read_text(encoding="utf-8", errors="replace") if self._setting.log.exists() else ""
        if self._process.exitcode is None:
            raise TimeoutError(f"still running after {seconds} s: {said}")
        return Ended(self._process.exitcode, self._changes.value, said)


@contextmanager
def started(
    program: Callable[..., None], arguments: Sequence, setting: Setting, die_at: int = 0, as_owner: bool = False
) -> Iterator[Victim]:
    """Start `program(*arguments)`; at the end nothing of it runs any more.

    `die_at`: it is killed just before its n-th change. `as_owner`: it may do to a file what its mode lets the owner
    do, so that modes count for root as well.
    """
    changes = _processes.Value("l", 0)
    process = _processes.Process(target=_live, args=(program, arguments, setting, changes, die_at, as_owner))
    process.start()
    victim = Victim(process, setting, changes)
    try:
        yield victim
    finally:
        victim.kill()
        process.join()


def ran(
    program: Callable[..., None], arguments: Sequence, setting: Setting, die_at: int = 0, as_owner: bool = False
) -> Ended:
    """A program from start to end."""
    with started(program, arguments, setting, die_at, as_owner) as victim:
        return victim.wait()


def socket_data(*arguments: str | Path) -> None:
    """The command line, as a program to start."""
    from builders.cli import main

    sys.argv = ["socket-data", *map(str, arguments)]
    main()


def _live(program: Callable, arguments: Sequence, setting: Setting, changes, die_at: int, as_owner: bool) -> None:
    os.setsid()
    os.environ.clear()
    os.environ.update(setting.env)
    os.chdir(setting.cwd)
    log = os.open(setting.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    read, write = os.pipe()
    os.write(write, setting.answer.encode())
    os.close(write)
    for mine, standard in ((read, 0), (log, 1), (log, 2)):
        os.dup2(mine, standard)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - for as long as it lives
    if as_owner and os.geteuid() == 0:
        _as_owner()
    # Python tries this folder once with a file of its own, which is no change of the program.
    tempfile.gettempdir()
    sys.addaudithook(_counting(str(setting.watched), changes, die_at))
    status = 0
    try:
        program(*arguments)
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
        status = 70
    sys.stdout.flush()
    sys.stderr.flush()
    sys.exit(status)


def _counting(watched: str, changes, die_at: int) -> Callable[[str, tuple], None]:
    def watch(event: str, arguments: tuple) -> None:
        path = str(arguments[0])
        # What a folder that is removed holds comes by its name alone.
        there = path.startswith(watched) or (event in ("os.remove", "os.rmdir") and not os.path.isabs(path))
        if event not in CHANGES or not there:
            return
        if event == "open" and not (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR):
            return
        changes.value += 1
        if changes.value == die_at:
            os.killpg(0, signal.SIGKILL)

    return watch


def _as_owner() -> None:
    """Give up root's right to pass by the modes of files."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable: the lower halves, then the upper
    kept = ~(1 << CAP_DAC_OVERRIDE | 1 << CAP_DAC_READ_SEARCH) & 0xFFFFFFFF
    if libc.capget(header, sets):
        raise OSError(ctypes.get_errno(), "the capabilities cannot be read")
    for place in range(3):
        sets[place] &= kept
    if libc.capset(header, sets):
        raise OSError(ctypes.get_errno(), "the capabilities cannot be dropped")
