"""The store alone against a loop over SQLite's C interface that writes the same rows in the same groups."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness as h

h.tools()
print("Store, durable writes of one record (%s)" % h.machine())
for group, writes in ((1, 3000), (8, 16000), (64, 40000)):
    ours, peers = [], []
    for _ in range(h.rounds()):
        folder = tempfile.mkdtemp(prefix="martlet-bench-")
        try:
            ours.append(h.bench("store", "--data", os.path.join(folder, "data"), "--group", group, "--writes", writes))
            words = [h.tool("rowloop"), os.path.join(folder, "data", "store.sqlite"), os.path.join(folder, "c.sqlite"),
                     str(group), str(writes)]
            peers.append(json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout))
        finally:
            shutil.rmtree(folder)
    cpu = [p["cpu_us"] / o["cpu_us"] for o, p in zip(ours, peers)]
    speed = [o["per_second"] / p["per_second"] for o, p in zip(ours, peers)]
    print("  groups of %d: %s a second, C loop %s; CPU each %s, C loop %s" % (
        group, h.summary([o["per_second"] for o in ours]), h.summary([p["per_second"] for p in peers]),
        h.summary([o["cpu_us"] for o in ours], " us"), h.summary([p["cpu_us"] for p in peers], " us")))
    print("    of the C loop: %s by speed, %s by CPU time; bar 0.7: %s" % (
        h.summary(speed), h.summary(cpu), h.verdict(h.median(speed) >= 0.7 and h.median(cpu) >= 0.7)))
