/** Checks the imports in a module graph against the rule for imports between the rooms of the house. */

/** Import of one file by another, including type imports. Paths of files are relative to the root of the repository. */
export interface Import {
  readonly from: string;
  /** Imported file, or an external specifier: `npm:…`, `node:…`, `jsr:…`. */
  readonly to: string;
  /** Specifier as written in the import. */
  readonly specifier: string;
}

/** Rooms from left to right. A module may import modules in its own room and in the rooms to the left. */
const ROOMS: readonly (readonly string[])[] = [
  ["lib/base/"],
  ["lib/contracts/"],
  ["lib/structures/"],
  ["lib/policy/"],
  ["lib/tokens/"],
  ["lib/queue/", "lib/workers/", "lib/metrics/"],
  ["lib/inspection/"],
  ["registry/"],
  ["limiters/", "disciplines/", "throttles/"],
  ["config/"],
  ["mod.ts"],
];

/** Rooms that may import each other although they are in the same position, as long as no imports are circular. */
const OPEN_ROOMS: readonly string[] = ["lib/queue/", "lib/workers/", "lib/metrics/"];

/** Folders whose files may be imported only by files in the same folder. */
const PRIVATE: readonly string[] = ["tests/", "bench/"];

/** Folder whose files may import the tests: they measure on the cluster that the tests start. */
const GUEST_OF_TESTS = "bench/kubernetes/";

const allRooms = ROOMS.flat();

/** Returns a sentence for each forbidden import, or no sentences if all imports are allowed. */
export function offencesOf(files: readonly string[], imports: readonly Import[]): string[] {
  return [
    ...files.filter((file) => file.startsWith("lib/") && roomOf(file) === undefined)
      .map((file) => `${file} is in none of the rooms of lib/`),
    ...imports.flatMap((one) => {
      const rule = brokenRule(one);
      return rule === undefined ? [] : [`${sentence(one)}: ${rule}`];
    }),
    ...circlesIn(imports).map((circle) => `files import each other in a circle: ${circle.join(" → ")}`),
    ...circlesOfRooms(imports),
  ];
}

/** Returns the rule that a single import breaks, if any. */
function brokenRule({ from, to, specifier }: Import): string | undefined {
  const isGuest = from.startsWith(GUEST_OF_TESTS) && to.startsWith("tests/");
  const closed = PRIVATE.find((folder) => to.startsWith(folder) && !from.startsWith(folder) && !isGuest);
  if (closed !== undefined) return `nothing outside ${closed} imports it`;

  const member = /^packages\/[^/]+\//.exec(from)?.[0];
  if (member !== undefined) {
    const isInside = to.startsWith(member);
    const isPublic = !/^(\.|\/|file:)/.test(specifier);
    return isInside || isPublic ? undefined : "a package imports others by their public entries";
  }

  const room = roomOf(from);
  if (room === undefined) return undefined; // tests, benchmarks, docs and examples may import everything else
  const other = roomOf(to);
  if (other === undefined) return `${room} imports nothing but rooms`;
  if (other === room) return undefined;
  const [place, otherPlace] = [placeOf(room), placeOf(other)];
  if (otherPlace > place) return `${other} is to the right of ${room}`;
  const areOpen = OPEN_ROOMS.includes(room) && OPEN_ROOMS.includes(other);
  return otherPlace === place && !areOpen ? `${room} and ${other} do not see each other` : undefined;
}

function circlesOfRooms(imports: readonly Import[]): string[] {
  const between = imports
    .map((one) => ({ one, from: roomOf(one.from), to: roomOf(one.to) }))
    .filter(({ from, to }) => from !== to && OPEN_ROOMS.includes(from!) && OPEN_ROOMS.includes(to!));
  const doors = between.map(({ from, to }) => ({ from: from!, to: to! }));
  return circlesIn(doors).map((circle) => {
    const reasons = circle.slice(1).map((to, i) =>
      sentence(between.find((door) => door.from === circle[i] && door.to === to)!.one)
    );
    return `rooms import each other in a circle: ${circle.join(" → ")}, as ${reasons.join(", and ")}`;
  });
}

/**
 * Returns the shortest import cycle through each file or room. Of several cycles with the same members, only one is
 * returned. The first and last elements of a cycle are the same.
 */
function circlesIn(edges: readonly { readonly from: string; readonly to: string }[]): string[][] {
  const targets = new Map<string, Set<string>>();
  for (const { from, to } of edges) targets.set(from, (targets.get(from) ?? new Set()).add(to));
  const circles = new Map<string, string[]>();
  for (const start of [...targets.keys()].sort()) {
    const circle = shortestCircle(start, targets);
    if (circle === undefined) continue;
    const members = [...new Set(circle)].sort().join();
    if (!circles.has(members)) circles.set(members, circle);
  }
  return [...circles.values()];
}

function shortestCircle(start: string, targets: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const cameFrom = new Map<string, string>();
  const line = [start];
  for (const at of line) {
    for (const next of targets.get(at) ?? []) {
      if (next === start) {
        const circle = [start, at];
        while (circle.at(-1) !== start) circle.push(cameFrom.get(circle.at(-1)!)!);
        return circle.reverse();
      }
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, at);
      line.push(next);
    }
  }
  return undefined;
}

function roomOf(file: string): string | undefined {
  return allRooms.find((room) => room.endsWith("/") ? file.startsWith(room) : file === room);
}

function placeOf(room: string): number {
  return ROOMS.findIndex((rooms) => rooms.includes(room));
}

function sentence({ from, to, specifier }: Import): string {
  return `${from} imports ${to}${specifier === to ? "" : ` as "${specifier}"`}`;
}
