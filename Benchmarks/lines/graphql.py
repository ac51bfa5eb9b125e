"""Parse, validate and execute 30 fields: against graphql-core, and with the plan kept."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness as h

h.tools()
folder = os.path.join(h.ROOT, "Benchmarks", "GraphQL")
ours, peers = [], []
for _ in range(h.rounds()):
    ours.append(h.bench("graphql", "--files", folder, "--operations", 5000))
    out = subprocess.run([h.python(), os.path.join(h.ROOT, "Benchmarks", "Peers", "graphql_core.py"), folder, "300"],
                         capture_output=True, text=True, check=True).stdout
    peers.append(json.loads(out))
ratios = [p["uncached_us"] / o["uncached_us"] for o, p in zip(ours, peers)]
print("GraphQL, 30 fields, processor time (%s)" % h.machine())
for name in ("parse", "validate", "execute", "uncached"):
    print("  %-9s %s, graphql-core %s" % (name, h.summary([o[name + "_us"] for o in ours], " us"),
                                          h.summary([p[name + "_us"] for p in peers], " us")))
cached = [o["cached_us"] for o in ours]
print("  cached    %s" % h.summary(cached, " us"))
print("  nothing cached: %s times less than graphql-core; bar 30: %s"
      % (h.summary(ratios), h.verdict(h.median(ratios) >= 30)))
print("  plan cached: %s; bar 15 us: %s" % (h.summary(cached, " us"), h.verdict(h.median(cached) <= 15)))
