"""Everything runs on the device asked for: nothing falls back silently."""

import os

os.environ.setdefault("PRIMSET_FALLBACK", "error")
