import { expect, test } from "vitest";
import type { Command } from "./commands";
import { commandFor, keyText, keyNames } from "./keys";

const event = (key: string, more: Partial<KeyboardEvent> = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
  altKey: false,
  ...more,
});
const command = (id: string, keys: string[], tabs?: Command["tabs"]): Command => ({
  id,
  title: id,
  keys,
  group: "",
  run: () => {},
  ...(tabs ? { tabs } : {}),
});

test("Shift matters for letters, not for signs", () => {
  expect(keyNames(event("w"))).toEqual(["w"]);
  expect(keyNames(event("W", { shiftKey: true }))).toEqual(["shift+w"]);
  expect(keyNames(event("?", { shiftKey: true }))).toEqual(["?"]);
  expect(keyNames(event("P", { ctrlKey: true, shiftKey: true }))).toEqual(["ctrl+shift+p"]);
  expect(keyNames(event("Enter", { shiftKey: true }))).toEqual(["shift+enter"]);
});

test("the Mac's command key is Ctrl", () => {
  expect(keyNames(event("P", { metaKey: true, shiftKey: true }))).toEqual(
    keyNames(event("P", { ctrlKey: true, shiftKey: true })),
  );
});

test("a tab's command precedes a global one, only on its tab", () => {
  const list = [command("everywhere", ["x"]), command("dag", ["x"], ["dag"])];
  expect(commandFor(list, event("x"), "dag")?.id).toBe("dag");
  expect(commandFor(list, event("x"), "summary")?.id).toBe("everywhere");
  expect(commandFor([command("dag", ["x"], ["dag"])], event("x"), "summary")).toBeUndefined();
});

test("a letter with Ctrl differs from the letter", () => {
  expect(
    commandFor([command("down", ["s"])], event("s", { ctrlKey: true }), "timeline"),
  ).toBeUndefined();
});

test("keys match the names in commands", () => {
  const list = [
    command("palette", ["Ctrl+Shift+p"]),
    command("collapse", ["Shift+Enter"]),
    command("in", ["+"]),
    command("zero", ["0"]),
    command("up", ["ArrowUp"]),
  ];
  expect(commandFor(list, event("P", { ctrlKey: true, shiftKey: true }), "dag")?.id).toBe(
    "palette",
  );
  expect(commandFor(list, event("Enter", { shiftKey: true }), "dag")?.id).toBe("collapse");
  expect(commandFor(list, event("+", { shiftKey: true }), "dag")?.id).toBe("in");
  expect(commandFor(list, event("ArrowUp"), "dag")?.id).toBe("up");
  expect(commandFor(list, event("Enter"), "dag")).toBeUndefined();
});

test("keys are shown with their usual symbols", () => {
  expect(keyText("w")).toBe("W");
  expect(keyText("Shift+Enter")).toBe("⇧ Enter");
  expect(keyText("+")).toBe("+");
});
