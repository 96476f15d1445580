"""How the programs end. SPDX-License-Identifier: BSD-2-Clause"""

import os
import signal
import sys


def silence(*files):
    """Let nothing more be written there, nor tried at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for file in files:
        os.dup2(nowhere, file)


def told(program, name, failure, status=1):
    """The exit status that PROGRAM, a function, returns, or 0; those of signals
    are as a shell gives them. What keeps it from its end, of class FAILURE or
    of the system, is told in a sentence after NAME: then it is the failure's
    own status, or else STATUS."""
    try:
        result = program()
        print(end="", flush=True)
        return result or 0
    except failure as what:
        print(f"{name}: {what}", file=sys.stderr, flush=True)
        return getattr(what, "status", status)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:  # the reader has seen enough
        silence(1, 2)
        return 128 + signal.SIGPIPE
    except OSError as error:
        silence(1)
        print(f"{name}: {error.filename or 'standard output'}: "
              f"{error.strerror}", file=sys.stderr)
        return status
