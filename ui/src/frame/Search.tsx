/** The search in the header: `/` focuses it, arrows choose, Enter selects. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { useJson, valueOf } from "../answers";
import { register } from "../commands";
import type { RegionSpan } from "../data/contract";
import { requests } from "../data/requests";
import { announcement, meta, run, runMeta } from "../store";
import { search, type SearchResult } from "./searchResults";
import { findPlaces, stepPlace, placeCounter } from "./searchPlaces";

const KINDS: Record<SearchResult["kind"], string> = {
  task: "task",
  site: "spawn site",
  code: "code",
  region: "region",
  function: "function",
};

export function Search() {
  const text = useSignal("");
  const at = useSignal(0);
  const open = useSignal(false);
  const input = useRef<HTMLInputElement>(null);
  const current = runMeta();
  const regions =
    valueOf(
      useJson<RegionSpan[]>(
        open.value && current?.has.regions ? requests.regions(run.value) : null,
      ),
    ) ?? [];
  useEffect(
    () =>
      register(
        {
          id: "search",
          title: "Search sites, code, functions, regions, tasks",
          keys: ["/"],
          group: "Everywhere",
          run: () => {
            input.current?.focus();
            input.current?.select();
          },
        },
        {
          id: "search.next",
          title: "Next match of the search",
          keys: ["g"],
          group: "Everywhere",
          run: () => stepPlace(1),
        },
        {
          id: "search.previous",
          title: "Previous match of the search",
          keys: ["Shift+g"],
          group: "Everywhere",
          run: () => stepPlace(-1),
        },
      ),
    [],
  );
  const found = meta.value && current ? search(text.value, current, regions) : [];
  const pick = (f: SearchResult | undefined) => {
    if (!f) return;
    f.go();
    void findPlaces(f, current!, regions);
    open.value = false;
    announcement.value = `${KINDS[f.kind]} ${f.title} selected`;
    input.current?.blur();
  };
  const key = (e: KeyboardEvent) => {
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      e.preventDefault();
      at.value =
        (at.value + (e.key === "ArrowDown" ? 1 : -1) + Math.max(1, found.length)) %
        Math.max(1, found.length);
    } else if (e.key === "Enter") {
      e.preventDefault();
      pick(found[at.value]);
    } else if (e.key === "Escape") {
      e.preventDefault();
      e.stopPropagation();
      if (open.value && text.value) text.value = "";
      else input.current?.blur();
      open.value = false;
    }
  };
  const listed = open.value && text.value.trim() !== "";
  return (
    <div class="search" role="search">
      <label>
        <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
          <circle cx="5" cy="5" r="3.7" fill="none" stroke="currentColor" stroke-width="1.4" />
          <path d="m8 8 3 3" stroke="currentColor" stroke-width="1.4" />
        </svg>
        <input
          ref={input}
          type="text"
          value={text.value}
          placeholder="Search sites, tasks, regions"
          aria-label="Search sites, code, functions, regions and tasks"
          role="combobox"
          aria-expanded={listed}
          aria-controls="found"
          aria-autocomplete="list"
          aria-activedescendant={listed && found.length ? `found-${at.value}` : undefined}
          autocomplete="off"
          spellcheck={false}
          onInput={(e) => {
            text.value = e.currentTarget.value;
            at.value = 0;
            open.value = true;
          }}
          onFocus={() => (open.value = true)}
          onBlur={() => setTimeout(() => (open.value = false), 150)}
          onKeyDown={key}
        />
        {placeCounter.value ? null : <kbd>/</kbd>}
      </label>
      {placeCounter.value && (
        <span class="steps">
          <span>{placeCounter.value}</span>
          <button
            type="button"
            aria-label="Previous match"
            title="Previous match (Shift+G)"
            onClick={() => stepPlace(-1)}
          >
            ‹
          </button>
          <button
            type="button"
            aria-label="Next match"
            title="Next match (G)"
            onClick={() => stepPlace(1)}
          >
            ›
          </button>
        </span>
      )}
      {listed && (
        <div class="menu" role="listbox" id="found" aria-label="Search results">
          {found.map((f, i) => (
            <div
              key={i}
              id={`found-${i}`}
              role="option"
              aria-selected={i === at.value}
              class={`row ${i === at.value ? "at" : ""}`}
              onPointerDown={(e) => {
                e.preventDefault();
                pick(f);
              }}
            >
              <span class="fn">{f.title}</span>
              {f.where && <span class="place">{f.where}</span>}
              <span class="end">{KINDS[f.kind]}</span>
            </div>
          ))}
          {found.length === 0 && (
            <div class="none">
              No name contains “{text.value.trim()}”. Tasks are found by number.
            </div>
          )}
        </div>
      )}
    </div>
  );
}
