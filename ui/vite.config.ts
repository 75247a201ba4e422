/**
 * One file: `vite build` writes dist/index.html with everything inside, for `workspan view` and
 * `workspan html` alike. `vite` alone shows the page with an invented run; with
 * VIEW=http://127.0.0.1:PORT/… it shows what that server has.
 */
import { defineConfig } from "vitest/config";
import { viteSingleFile } from "vite-plugin-singlefile";

const view = process.env.VIEW;

export default defineConfig(({ mode }) => ({
  base: "./",
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  define: {
    __INVENTED__: JSON.stringify(mode === "invented" || (mode === "development" && !view)),
  },
  worker: { format: "es" as const },
  build: {
    target: "es2022",
    reportCompressedSize: false,
    chunkSizeWarningLimit: 4096,
    outDir: mode === "invented" ? "dist/invented" : "dist",
    emptyOutDir: mode !== "invented",
  },
  server: {
    // The glossary is a link into docs/.
    fs: { allow: [".."] },
    ...(view
      ? { proxy: { "/api": { target: view.replace(/\/+$/, ""), changeOrigin: true } } }
      : {}),
  },
  test: { environment: "node", include: ["src/**/*.test.ts", "src/**/*.test.tsx"] },
}));
