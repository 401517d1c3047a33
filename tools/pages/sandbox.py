"""A tool in a process of its own: HDF5 may die, loop or swallow all memory in a hostile file."""
import os
import resource
import signal
import sys

from .text import Plain

SECONDS = 60  # of processor time in one call of HDF5 or numpy
BROKEN = (OSError, KeyError, IndexError, RuntimeError, ValueError, TypeError, AttributeError, OverflowError, MemoryError)


def renew(*_):
    """Between two steps of Python: from now on, so many seconds again."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    wanted = int(used.ru_utime + used.ru_stime) + SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def limit():
    """No more memory than the machine has; an endless call ends by SIGXCPU, which no Python code handles."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
    if soft == resource.RLIM_INFINITY or soft > most:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    renew()
    signal.signal(signal.SIGPROF, renew)
    signal.setitimer(signal.ITIMER_PROF, 5, 5)


def part(tool, main, status):
    """The exit status of main; what is wrong with a file is told, with TSL_DEBUG set also where."""
    try:
        limit()
        return main() or 0
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return status if isinstance(end.code, str) else end.code or 0
    except BROKEN as error:
        if os.environ.get("TSL_DEBUG"):
            raise
        print(f"{tool}: damaged or hostile file: {type(error).__name__}: {error} (TSL_DEBUG=1 tells where)",
              file=sys.stderr)
        return status


def run(tool, main, status):
    """Run main in another process and end with its exit status; with status when a file broke it."""
    sys.stdout.flush()
    sys.stdout, sys.stderr = Plain(sys.stdout), Plain(sys.stderr)
    child = os.fork()
    if child == 0:
        code = 70
        try:
            code = part(tool, main, status)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the part gets it as well
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
    ended = os.waitpid(child, 0)[1]
    if os.WIFEXITED(ended):
        sys.exit(os.WEXITSTATUS(ended))
    why = signal.strsignal(os.WTERMSIG(ended))
    if os.WTERMSIG(ended) in (signal.SIGINT, signal.SIGTERM):
        sys.exit(128 + os.WTERMSIG(ended))
    print(f"{tool}: a file is damaged: HDF5 cannot get through it ({why})", file=sys.stderr)
    sys.exit(status)
