import { describe, expect, it } from "vitest";
import { isProgramFile } from "./SourcePane";

describe("a file of the run", () => {
  it("belongs to the program unless it is a library's", () => {
    expect(
      [
        "src/sort.rs",
        "/home/me/main.cpp",
        "../bench/tp/msort.cpp",
        "C:\\me\\a.cpp",
        "my-library/a.rs",
      ].every(isProgramFile),
    ).toBe(true);
    expect(
      [
        "/usr/include/c++/12/bits/stl_algo.h",
        "library/core/src/ptr/mod.rs",
        "/rustc/5980/library/std/src/rt.rs",
        "/home/me/.cargo/registry/src/x/rayon-1.12.0/src/lib.rs",
        "<stdin>",
      ].some(isProgramFile),
    ).toBe(false);
  });
});
