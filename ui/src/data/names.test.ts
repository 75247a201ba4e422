import { expect, test } from "vitest";
import { parsedAnswer, shortName } from "./names";

test("names lose their arguments, and keep their end", () => {
  expect(
    shortName(
      "tbb::detail::d1::start_for<tbb::blocked_range<unsigned long>, Solver<double>::run(int)::{lambda(int)#1}>::execute(tbb::detail::d1::execution_data&)",
    ),
  ).toBe("execute");
  expect(
    shortName("sort::merge_sort::<alloc::vec::Vec<(u64, u64)>, core::cmp::Reverse<u64>>"),
  ).toBe("merge_sort");
  expect(shortName("<rayon::iter::map::Map<A, B> as rayon::iter::ParallelIterator>::drive")).toBe(
    "Map::drive",
  );
  expect(shortName("after matrix::Block<double, 4>::multiply(int const&):9")).toBe(
    "after Block::multiply:9",
  );
  expect(shortName("my_crate::main::{{closure}}::{{closure}}")).toBe("main");
  expect(shortName("fn_of::<impl Fn() -> u8>")).toBe("fn_of");
});

test("other texts stay", () => {
  for (const text of [
    "msort",
    "Village::day",
    "after msort:55",
    "src/a.rs:10",
    "<unknown>",
    "a (b)",
  ])
    expect(shortName(text)).toBe(text);
  expect(shortName("List::operator<")).toBe("List::operator<");
});

test("names are shortened in answers, but not in SQL", () => {
  const text = '{"codes":[{"label":"a::f<int>","file":"x<y.c"}]}';
  expect(parsedAnswer("api/v1/meta", text)).toEqual({ codes: [{ label: "f", file: "x<y.c" }] });
  expect(parsedAnswer("api/v1/sql?run=a", text)).toEqual(JSON.parse(text));
});
