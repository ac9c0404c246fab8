"""`python -m iris`: tools for a running system. `top` is the live tree, `metrics` the Prometheus text."""

import sys

from iris import tools

if __name__ == "__main__":
    sys.exit(tools.main(sys.argv[1:]))
