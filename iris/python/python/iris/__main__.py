"""`python -m iris`: tools for a running system. `top` is the live tree, `metrics` the Prometheus text; `mesh` makes certificates for nodes."""

import sys

from iris import mesh, tools

if __name__ == "__main__":
    sys.exit(mesh.main(sys.argv[2:]) if sys.argv[1:2] == ["mesh"] else tools.main(sys.argv[1:]))
