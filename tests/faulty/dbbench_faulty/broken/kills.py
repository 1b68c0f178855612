"""Kills the process that imports it, or keeps it waiting if it is told to."""

import os
import signal
import time

if "FAULTY_IMPORT_HANGS" in os.environ:
    time.sleep(3600)
os.kill(os.getpid(), signal.SIGSEGV)
