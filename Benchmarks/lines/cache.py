"""The client's normalized store: per-record cost from 1,000 to 100,000 records, beside the least that could be done."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness as h



def us(values):
    return h.summary(values, " us")


h.tools()
SIZES = (1000, 10000, 100000)
print("A client's store, processor time per record of six fields and its type's name (%s)" % h.machine())
memory = {size: [] for size in SIZES}
for _ in range(h.rounds()):
    for size in SIZES:
        memory[size].append(h.bench("cache", "--records", size))
for size in SIZES:
    def of(name, size=size):
        return us([figure[name] / (1 if name.endswith("_us") else 1000) for figure in memory[size]])
    print("  %d records in memory: new %s, same again %s, one field changed %s, read %s" % (
        size, of("new_ns"), of("same_ns"), of("changed_ns"), of("read_ns")))
    print("    dictionary of encoded records: new %s, same %s, changed %s; parsing the JSON %s" % (
        of("peer_new_ns"), of("peer_same_ns"), of("peer_changed_ns"), of("parse_ns")))
    print("    an event and a watcher's new result: of 1 record %s, of 1,000 records %s; unwatched event %s" % (
        of("notify_1_us"), of("notify_1000_us"), of("unwatched_event_us")))
first, last = memory[SIZES[0]], memory[SIZES[-1]]
growth = [b["changed_ns"] / a["changed_ns"] for a, b in zip(first, last)]
peer = [b["peer_changed_ns"] / a["peer_changed_ns"] for a, b in zip(first, last)]
event = [b["unwatched_event_us"] / a["unwatched_event_us"] for a, b in zip(first, last)]
print("  growth of the cost per record from 1,000 to 100,000: write %s (dictionary %s), event %s; bar 1.5: %s" % (
    h.summary(growth), h.summary(peer), h.summary(event),
    h.verdict(h.median(growth) <= 1.5 and h.median(event) <= 1.5)))
ratio = [f["changed_ns"] / f["peer_changed_ns"] for f in last]
print("  write against the dictionary at 100,000: %s times; bar 3: %s" % (
    h.summary(ratio), h.verdict(h.median(ratio) <= 3)))

for size in SIZES[:2]:
    ours, peers = [], []
    for _ in range(h.rounds()):
        folder = tempfile.mkdtemp(prefix="martlet-bench-")
        try:
            ours.append(h.bench("cache", "--records", size, "--file", os.path.join(folder, "cache.sqlite")))
            out = subprocess.run([h.tool("cacheloop"), os.path.join(folder, "c.sqlite"), str(size)],
                                 capture_output=True, text=True, check=True).stdout
            peers.append(json.loads(out))
        finally:
            shutil.rmtree(folder)
    print("  %d records in a file: new %s (C loop %s), changed %s (C loop %s), read %s" % (
        size, us([o["new_ns"] / 1000 for o in ours]), us([p["new_ns"] / 1000 for p in peers]),
        us([o["changed_ns"] / 1000 for o in ours]), us([p["changed_ns"] / 1000 for p in peers]),
        us([o["read_ns"] / 1000 for o in ours])))
