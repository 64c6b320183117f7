/** Runs the tests that are for Bun as well, after what they need is installed for it: `deno task test:bun [FILE…]`. */

const ROOT = new URL("..", import.meta.url);

/** Beside those in `tests/` itself. The others are about Deno, or start every runtime by themselves. */
const FOLDERS = [
  "registry",
  "limiters",
  "disciplines",
  "config",
  "config_file",
  "contracts",
  "dashboard",
  "model",
  "faults",
  "conformance",
  "opentelemetry",
  "prometheus",
  "redis",
  "redis/faults",
];

async function bun(args: string[], folder: URL): Promise<void> {
  const { code } = await new Deno.Command("npx", { args: ["-y", "bun@1", ...args], cwd: folder }).spawn().status;
  if (code !== 0) Deno.exit(code);
}

function namesIn(folder: string): string[] {
  return [...Deno.readDirSync(new URL(folder, ROOT))].map(({ name }) => name).sort();
}

for (const folder of ["tests/", ...namesIn("packages").map((name) => `packages/${name}/`)]) {
  await bun(["install", "--no-save", "--silent"], new URL(folder, ROOT));
}
const files = ["tests/", ...FOLDERS.map((folder) => `tests/${folder}/`)].flatMap((folder) =>
  namesIn(folder).filter((name) => name.endsWith("_test.ts")).map((name) => `./${folder}${name}`)
);
await bun(
  ["test", "--timeout", "300000", "--preload", "./tests/bun_preload.ts", ...(Deno.args.length > 0 ? Deno.args : files)],
  ROOT,
);
