import { expect, test } from "vitest";
import { shorten, type Pen } from "./pen";

/** Each letter is one unit wide. */
const pen = { measure: (words: string) => words.length } as unknown as Pen;
const how = { size: 12, colour: "#000" };
const short = (words: string, width: number) => shorten(pen, words, width, how);

test("a name loses letters before its line number or address, and that number stays longest", () => {
  expect(short("after msort:56", 14)).toBe("after msort:56");
  expect(short("after msort:56", 9)).toBe("after…:56");
  expect(short("after msort:56", 5)).toBe("…:56");
  expect(short("libm.so.6+0x8f", 10)).toBe("libm…+0x8f");
  expect(short("merge_serial", 7)).toBe("merge_…");
  expect(short("merge_serial", 3)).toBe("");
});

test("a name loses letters before the size of its task, and the size stays longest", () => {
  expect(short("merge_serial 1.25\u00a0M", 12)).toBe("merg… 1.25\u00a0M");
  expect(short("merge_serial 1.25\u00a0M", 8)).toBe("1.25\u00a0M");
});

test("of code after a call, a few letters are those of the call", () => {
  expect(short("after x264_open", 7)).toBe("…x264_…");
  expect(short("after x264_open", 12)).toBe("after x264_…");
});
