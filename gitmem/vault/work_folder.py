"""A folder of the work tree held open to write in: what takes its place meanwhile can't lead a write elsewhere.

A path that was checked and is then opened by name can be exchanged for a symbolic link in between. So the way is walked
once, folder by folder and through no link, and everything after that names files within the open folder alone
(INV-INSIDE).
"""

from __future__ import annotations

import contextlib
import os

from gitmem.disk import flush_folder, write_new
from gitmem.typed import BinaryIO
from gitmem.vault import atomic
from gitmem.vault.folder import Folder


class WorkFolder(Folder):
    """A folder whose files are written, exchanged and moved by their names within it; names hold no ``/``.

    Where the platform can't hold folders open (Windows) names are looked up by path each time.
    """

    def write_new(self, name: str, data: bytes, mode: int) -> None:
        """Write a file that must not exist yet and flush its bytes. Raises ``FileExistsError``."""
        write_new(self._at(name), data, mode, self.fd)

    def replace(self, name: str, data: bytes, mode: int, temp: str) -> None:
        """Write ``name`` so that it holds its old bytes or ``data``, durable; a kill can leave ``temp`` behind."""
        self.discard(temp)
        self.write_new(temp, data, mode)
        self.move(temp, name)
        self.flush()

    def open_bytes(self, name: str) -> BinaryIO:
        """Open a file for reading; a link is not followed and a pipe not waited for. Raises ``OSError``."""
        return os.fdopen(self.open(name), "rb")

    def exchange(self, one: str, other: str) -> bool:
        """Exchange two files in one step; false where that can't be done. See ``atomic.exchange``."""
        return atomic.exchange(self._at(one), self._at(other), self.fd)

    def move_no_replace(self, source: str, target: str) -> None:
        """Rename within the folder to a name that must not exist. Raises ``FileExistsError``."""
        atomic.move_no_replace(self._at(source), self._at(target), self.fd)

    def move_aside(self, name: str, hidden: str) -> None:
        """Rename a file that others may replace to a name that only the caller uses. See ``atomic.move_aside``."""
        atomic.move_aside(self._at(name), self._at(hidden), self.fd)

    def has(self, name: str) -> bool:
        """Tell whether there is anything of that name, a link too."""
        return self.find_mode(name) is not None

    def find_mode(self, name: str) -> int | None:
        """Return kind and permissions as ``lstat`` has them, ``None`` where nothing is."""
        try:
            return os.stat(self._at(name), dir_fd=self.fd, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return None

    def set_mode(self, name: str, mode: int) -> None:
        """Set the permissions of a file that the caller made."""
        os.chmod(self._at(name), mode, dir_fd=self.fd)

    def move(self, source: str, target: str) -> None:
        """Rename within the folder, in place of what has the name."""
        os.replace(self._at(source), self._at(target), src_dir_fd=self.fd, dst_dir_fd=self.fd)

    def move_out(self, name: str, path: str) -> None:
        """Rename a file to ``path``, absolute, on the same file system."""
        os.rename(self._at(name), path, src_dir_fd=self.fd)

    def unlink(self, name: str) -> None:
        """Remove a file. Raises ``FileNotFoundError``."""
        os.unlink(self._at(name), dir_fd=self.fd)

    def discard(self, name: str) -> None:
        """Remove a file if it is there."""
        with contextlib.suppress(FileNotFoundError):
            self.unlink(name)

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder in this one. Raises ``OSError`` where it is not empty or not there."""
        os.rmdir(self._at(name), dir_fd=self.fd)

    def flush(self) -> None:
        """Flush the folder's entries to disk, as far as the platform can."""
        if self.fd is None:
            flush_folder(self._path)
        else:
            os.fsync(self.fd)

    def _at(self, name: str) -> str:
        return os.path.join(self._path, name) if self.fd is None else name
