/**
 * Requests and answers: the one contract between `crates/view` (which answers) and the page. The
 * server and the single-file report give the same bytes for the same request, so the views do not
 * know where data comes from.
 *
 * A request is a relative URL, `api/v1/<name>?<parameters in the order given here>`. The text of
 * the URL is also the key under which a single-file report carries the answer, so parameters are
 * quantised (level and index of a tile, never a free range) and written exactly as the functions in
 * `requests.ts` write them.
 *
 * Times are ticks of `RunMeta.ticks_per_second`, relative to `RunMeta.begin`, unless said
 * otherwise. Indices of tasks and strands are those of the DAG's columns (`Dag::tasks`,
 * `Dag::strands`), and `null` without a task or strand.
 *
 * Binary answers are "planes" (see planes.ts): "WSPV", u32 length of a JSON header, the header,
 * zero padding to a multiple of 8 bytes from the start, then each plane little-endian, each padded
 * to a multiple of 8. The header is `{"planes":[{"name","type","length"}], ...facts}` with type u8
 * | u16 | u32 | f32 | f64.
 */

export * from "./contract/run";
export * from "./contract/summary";
export * from "./contract/timeline";
export * from "./contract/dag";
export * from "./contract/detail";
export * from "./contract/sites";
export * from "./contract/predictions";
export * from "./contract/flame";
