"""Files that are written whole or not at all."""

import os
import tempfile


def replace(path, text):
    """A full disk or a killed process leaves the file as it was."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".", delete=False) as out:
        try:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
            os.chmod(out.name, 0o644)
            os.replace(out.name, path)
        except BaseException:
            os.unlink(out.name)
            raise
