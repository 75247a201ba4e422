"""Reads Chrome's trace events and prints what they show, as JSON."""
import json
import sys

with open(sys.argv[1]) as file:
    events = json.load(file)["traceEvents"]
threads, slices, flows, spans, running, ready = {}, [], {}, {}, [], []
for event in events:
    kind = event["ph"]
    if kind == "M" and event["name"] == "thread_name":
        threads[event["tid"]] = event["args"]["name"]
    elif kind == "X":
        slices.append(event)
    elif kind in "sf":
        flows.setdefault(event["id"], []).append((kind, event["ts"]))
    elif kind in "be":
        spans.setdefault(event["id"], []).append((kind, event["ts"]))
    elif kind == "C":
        running.append((event["ts"], event["args"]["running"]))
        ready.append((event["ts"], event["args"]["ready"]))
for name, pairs, kinds in (("flow", flows, "sf"), ("region", spans, "be")):
    for pair in pairs.values():
        ends = sorted(pair, key=lambda p: (p[1], kinds.index(p[0])))
        assert "".join(k for k, _ in ends) == kinds, f"{name}: {pair}"


def integral(steps):
    return round(1000 * sum((b[0] - a[0]) * a[1] for a, b in zip(steps, steps[1:])))


def ns(us):
    return round(1000 * us)


print(json.dumps({
    "threads": sorted(threads.values()),
    "slices": sorted(([threads[e["tid"]], ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), e["name"], [e["cat"]], e["args"]["strand"]]
                      for e in slices), key=str),
    "flows": len(flows),
    "regions": len(spans),
    "integrals": {"running strands": integral(running), "ready strands": integral(ready)},
}))
