"""Reads a speedscope file, checks what its schema demands, and prints stacks with weights, as JSON."""
import json
import sys

with open(sys.argv[1]) as file:
    root = json.load(file)
assert root["$schema"] == "https://www.speedscope.app/file-format-schema.json"
frames = root["shared"]["frames"]
for frame in frames:
    assert isinstance(frame["name"], str) and set(frame) <= {"name", "file", "line", "col"}
    assert "line" not in frame or isinstance(frame["line"], int)
profiles = []
for profile in root["profiles"]:
    assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
    assert profile["type"] == "sampled" and profile["unit"] == "nanoseconds"
    assert len(profile["samples"]) == len(profile["weights"])
    assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])
    for stack in profile["samples"]:
        assert stack and all(0 <= frame < len(frames) for frame in stack)
    stacks = [[frames[frame]["name"] for frame in stack] for stack in profile["samples"]]
    profiles.append({"name": profile["name"], "stacks": stacks, "weight": sum(profile["weights"])})
assert 0 <= root["activeProfileIndex"] < len(profiles)
print(json.dumps({"name": root["name"], "profiles": profiles}))
