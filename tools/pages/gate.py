"""Programs that begin together: each waits behind a gate until all have been started."""
import os
import shutil
import tempfile

# sh -c SCRIPT gate HERE GATE COMMAND...: a reader of a named pipe waits until somebody can write to it
SCRIPT = ': > "$1"; : < "$2"; shift 2; exec "$@"'


class Gate:
    """A folder with the pipe and a mark of each program that waits. Its path is short: sockets may lie below it."""

    def __enter__(self):
        self.folder, self.writer = tempfile.mkdtemp(prefix="tsl"), None
        self.pipe = os.path.join(self.folder, "gate")
        os.mkfifo(self.pipe)
        return self

    def __exit__(self, *_):
        if self.writer is not None:
            os.close(self.writer)
        shutil.rmtree(self.folder, ignore_errors=True)

    def words(self, number):
        """What stands before the command of a program."""
        return ["sh", "-c", SCRIPT, "gate", os.path.join(self.folder, f"here{number}"), self.pipe]

    def place(self, number):
        """A folder for the temporary files of a program."""
        path = os.path.join(self.folder, f"t{number}")
        os.mkdir(path)
        return path

    def waiting(self):
        """So many programs wait, or will within a moment."""
        return sum(name.startswith("here") for name in os.listdir(self.folder))

    def open(self):
        """It stays open until the end, for one that has made its mark and does not wait yet."""
        self.writer = os.open(self.pipe, os.O_RDWR)  # does not wait for a reader
