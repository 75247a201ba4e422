"""Reads a pprof profile by the wire format of protocol buffers alone, and prints its samples, as JSON."""
import gzip
import json
import sys


def varint(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    at, found = 0, {}
    while at < len(data):
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            assert kind == 2, f"field {number} has wire type {kind}"
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            assert len(value) == length
        found.setdefault(number, []).append(value)
    return found


def numbers(values):
    """Repeated numbers, packed or not."""
    out = []
    for value in values:
        if isinstance(value, int):
            out.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            out.append(number)
    return out


profile = fields(gzip.open(sys.argv[1]).read())
strings = [text.decode() for text in profile[6]]
assert strings[0] == ""


def one(found, number):
    return found.get(number, [0])[0]


def typed(data):
    found = fields(data)
    return [strings[one(found, 1)], strings[one(found, 2)]]


functions = {}
for data in profile.get(5, []):
    found = fields(data)
    functions[one(found, 1)] = [strings[one(found, 2)], strings[one(found, 4)]]
locations = {}
for data in profile.get(4, []):
    found = fields(data)
    (line,) = [fields(line) for line in found[4]]
    locations[one(found, 1)] = functions[one(line, 1)] + [one(line, 2)]
assert 0 not in functions and 0 not in locations
samples = []
for data in profile.get(2, []):
    found = fields(data)
    labels = [fields(label) for label in found.get(3, [])]
    samples.append({
        "stack": [locations[location] for location in numbers(found[1])],
        "values": numbers(found[2]),
        "labels": {strings[one(label, 1)]: strings[one(label, 2)] for label in labels},
    })
print(json.dumps({
    "types": [typed(data) for data in profile[1]],
    "period_type": typed(profile[11][0]),
    "period": one(profile, 12),
    "duration": one(profile, 10),
    "samples": samples,
}))
