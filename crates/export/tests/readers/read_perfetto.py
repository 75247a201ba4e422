"""Reads a Perfetto trace by the schema of the perfetto package and prints what it shows, as JSON."""
import json
import sys

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

trace = Trace()
with open(sys.argv[1], "rb") as file:
    trace.ParseFromString(file.read())
threads, counters, others, names, categories, arguments = {}, {}, {}, {}, {}, {}
open_slices, slices, regions, flows, ends, values = {}, [], [], [], [], {}
for packet in trace.packet:
    if packet.HasField("track_descriptor"):
        track = packet.track_descriptor
        if track.HasField("thread"):
            threads[track.uuid] = track.thread.thread_name
        elif track.HasField("counter"):
            counters[track.uuid] = track.name
        else:
            others[track.uuid] = track.name
    for interned, table in (
        (packet.interned_data.event_names, names),
        (packet.interned_data.event_categories, categories),
        (packet.interned_data.debug_annotation_names, arguments),
    ):
        for entry in interned:
            table[entry.iid] = entry.name
events = [p for p in trace.packet if p.HasField("track_event")]
# As the trace processor does: by time, in the order of the file where that is equal.
events.sort(key=lambda p: p.timestamp)
for packet in events:
    event = packet.track_event
    track = event.track_uuid
    stack = open_slices.setdefault(track, [])
    if event.type == TrackEvent.TYPE_SLICE_BEGIN:
        known = {arguments[a.name_iid]: a.uint_value for a in event.debug_annotations}
        category = [categories[c] for c in event.category_iids]
        stack.append((packet.timestamp, names[event.name_iid], category, known))
        flows += [(f, packet.timestamp) for f in event.flow_ids]
        ends += [(f, packet.timestamp) for f in event.terminating_flow_ids]
    elif event.type == TrackEvent.TYPE_SLICE_END:
        begin, name, category, known = stack.pop()
        if track in threads:
            slices.append([threads[track], begin, packet.timestamp, name, category, known["strand"]])
        else:
            regions.append((others[track], begin, packet.timestamp, name))
    else:
        values.setdefault(counters[track], []).append((packet.timestamp, event.counter_value))
assert all(not stack for stack in open_slices.values()), "slices that do not end"
assert sorted(f for f, _ in flows) == sorted(f for f, _ in ends), "flows that lead nowhere"


def integral(steps):
    return sum((b[0] - a[0]) * a[1] for a, b in zip(steps, steps[1:]))


print(json.dumps({
    "threads": sorted(threads.values()),
    "slices": sorted(slices, key=str),
    "flows": len(flows),
    "regions": len(regions),
    "integrals": {name: integral(steps) for name, steps in values.items()},
}))
