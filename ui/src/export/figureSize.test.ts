import { expect, test } from "vitest";
import { FIGURE_PAGES, layoutOf, wider } from "./figureSize";

/** The tool's source with the same sizes. */
const [source = ""] = Object.values(
  import.meta.glob<string>("/../crates/export/src/plot/page.rs", {
    query: "?raw",
    import: "default",
    eager: true,
  }),
);

test("column and slide are those of the tool's own figures", () => {
  for (const [name, { width, height, font }] of Object.entries(FIGURE_PAGES)) {
    const of = new RegExp(`const ${name.toUpperCase()}: Page = Page \\{([^}]*)\\}`);
    const fields = of.exec(source)?.[1] ?? "";
    const value = (field: string) => Number(new RegExp(`${field}: ([\\d.]+)`).exec(fields)?.[1]);
    expect([value("width"), value("height"), value("font")]).toEqual([width, height, font]);
  }
});

test("text of 12 pixels becomes the figure's text", () => {
  for (const page of Object.values(FIGURE_PAGES)) {
    const { width, height } = layoutOf(page);
    expect((12 * page.width) / width).toBeCloseTo(page.font, 1);
    expect(width / height).toBeCloseTo(page.width / page.height, 2);
  }
});

test("only a slide gets wider, until its content fits", () => {
  const slide = layoutOf(FIGURE_PAGES.slide);
  expect(wider("slide", slide, slide.height)).toBeNull();
  expect(wider("slide", slide, 2 * slide.height)).toEqual({ width: 800, height: 450 });
  expect(wider("slide", { width: 1280, height: 720 }, 2000)).toBeNull();
  expect(wider("column", layoutOf(FIGURE_PAGES.column), 2000)).toBeNull();
});
