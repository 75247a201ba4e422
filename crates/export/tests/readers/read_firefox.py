"""Reads a profile of the Firefox Profiler (processed format), checks its tables, and prints its samples, as JSON."""
import json
import sys

with open(sys.argv[1]) as file:
    root = json.load(file)
meta = root["meta"]
assert isinstance(meta["preprocessedProfileVersion"], int) and isinstance(meta["version"], int)
assert meta["symbolicated"] is True and meta["interval"] > 0 and meta["startTime"] >= 0
assert isinstance(root["libs"], list)
shared = root.get("shared", {})


def column(table, name, length):
    values = table[name]
    assert len(values) == length, name
    return values


threads = []
for thread in root["threads"]:
    strings = thread.get("stringArray") or shared["stringArray"]
    tables = {name: thread.get(name) or shared.get(name) for name in ("stackTable", "frameTable", "funcTable")}
    stack, frame, func = (tables[name] for name in ("stackTable", "frameTable", "funcTable"))
    prefix = column(stack, "prefix", stack["length"])
    of_stack = column(stack, "frame", stack["length"])
    of_frame = column(frame, "func", frame["length"])
    names = column(func, "name", func["length"])
    for column_name in ("category", "subcategory"):
        for category in column(frame, column_name, frame["length"]):
            assert column_name == "subcategory" or 0 <= category < len(meta["categories"])
    samples = thread["samples"]
    times = samples.get("time") or samples.get("timeDeltas")
    if "timeDeltas" in samples:
        total, absolute = 0.0, []
        for delta in samples["timeDeltas"]:
            total += delta
            absolute.append(total)
        times = absolute
    assert len(times) == samples["length"] == len(samples["stack"])
    assert times == sorted(times)
    stacks = []
    for at in samples["stack"]:
        names_of = []
        while at is not None:
            assert prefix[at] is None or prefix[at] < at
            names_of.append(strings[names[of_frame[of_stack[at]]]])
            at = prefix[at]
        stacks.append(names_of[::-1])
    threads.append({"name": thread["name"], "times": times, "stacks": stacks})
print(json.dumps({"product": meta["product"], "threads": threads}))
