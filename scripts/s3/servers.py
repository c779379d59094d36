"""One server of Swift, or the rings that the servers find each other by.

servers.py rings FOLDER ACCOUNT_PORT CONTAINER_PORT OBJECT_PORT
servers.py serve CONFIGURATION SECTION
"""

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1
SIGKILL = 9


def make_rings(folder, *ports):
    from swift.common.ring import RingBuilder

    for kind, port in zip(("account", "container", "object"), ports):
        builder = RingBuilder(part_power=4, replicas=1, min_part_hours=0)
        builder.add_dev(
            {
                "region": 1,
                "zone": 1,
                "ip": "127.0.0.1",
                "port": int(port),
                "device": "disk",
                "weight": 1,
            }
        )
        builder.rebalance()
        builder.get_ring().save(os.path.join(folder, kind + ".ring.gz"))


def serve(configuration, section):
    # Whatever ends the script that started it ends it too.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)
    from swift.common import utils, wsgi

    utils.set_swift_dir(os.path.dirname(configuration))
    return wsgi.run_wsgi(configuration, section, verbose=True)


command, *arguments = sys.argv[1:]
sys.exit({"rings": make_rings, "serve": serve}[command](*arguments))
