/** Check that the tables of a file agree with each other. */

import { DatabaseSync } from "node:sqlite";
import { Line } from "../../packages/sqlite/store/item.ts";
import type { State } from "../../packages/sqlite/store/state.ts";

const { EARLIER, STALLED, SUSPECT, BLOCKED_RETRY, FIRST } = Line;

/** Rows of `items` that no call leaves behind, by the rule that they break: see `database/schema.ts`. */
const WRONG_ITEMS: Readonly<Record<string, string>> = {
  "a row without a state": "line IS NULL AND due IS NULL AND token IS NULL",
  "two states at once": "line IS NOT NULL AND token IS NOT NULL",
  "an unknown line": `line NOT IN (${STALLED}, ${SUSPECT}, ${BLOCKED_RETRY}) AND line < ${FIRST}`,
  "a line without a place": "(line IS NULL) <> (place IS NULL)",
  "an order outside the line": `coalesce(line, 0) < ${FIRST} AND coalesce(grp, score, turn) IS NOT NULL`,
  "an incomplete order": "(grp IS NULL) <> (score IS NULL) OR (grp IS NULL) <> (turn IS NULL)",
  "a priority without a state": "line IS NULL AND is_added_again = 0 AND (priority <> 0 OR is_retry <> 0)",
  "a delay without an order": "(due IS NULL) <> (due_turn IS NULL)",
  "a delay that ended": "due IS NULL AND (due_priority <> 0 OR due_is_retry <> 0 OR is_folding <> 0)",
  "a token without an owner": "(token IS NULL) <> (owner IS NULL)",
  "a hold that ended":
    "token IS NULL AND (is_added_again <> 0 OR held_priority <> 0 OR coalesce(held_place, note, cancelled) IS NOT NULL)",
  "an owner that is gone":
    "owner IS NOT NULL AND NOT EXISTS (SELECT 1 FROM owners WHERE owners.id = owner AND owners.queue = items.queue)",
  "a key that is given up too":
    "EXISTS (SELECT 1 FROM given_up WHERE given_up.queue = items.queue AND given_up.key = items.key)",
};

/** Rows of `groups` that no call leaves behind, by the rule that they break: see `store/groups.ts`. */
const WRONG_GROUPS: Readonly<Record<string, string>> = {
  "more ready keys than keys": "ready < 0 OR ready > size",
  "a turn without a ready key": "(turn IS NOT NULL) <> (ready > 0)",
  "an idle group with keys": "(idle_finish IS NOT NULL) <> (size = 0 AND processing = 0)",
  "a wrong size":
    `size <> (SELECT COUNT(*) FROM items, queues WHERE items.queue = groups.queue AND queues.id = items.queue
      AND line = json_extract(queues.state, '$.line') AND grp = groups.name AND score NOTNULL)`,
};

/** Returns what is wrong with a file that no process uses: damage, or tables that contradict each other. */
export function unsound(path: string): string[] {
  using database = new DatabaseSync(path);
  const list = <Row>(sql: string, ...values: number[]) => database.prepare(sql).all(...values) as Row[];
  const one = (sql: string, ...values: number[]) => list<{ n: number }>(sql, ...values)[0]!.n;
  const damage = list<{ integrity_check: string }>("PRAGMA integrity_check").map((row) => row.integrity_check);
  const wrong = damage.join() === "ok" ? [] : damage;
  if (list<{ user_version: number }>("PRAGMA user_version")[0]!.user_version === 0) return wrong; // it has no tables
  for (const [table, rules] of [["items", WRONG_ITEMS], ["groups", WRONG_GROUPS]] as const) {
    for (const [rule, where] of Object.entries(rules)) {
      for (const row of list(`SELECT * FROM ${table} WHERE ${where} LIMIT 3`)) {
        wrong.push(`${rule}: ${JSON.stringify(row)}`);
      }
    }
  }
  for (const row of list<{ id: number; name: string; text: string }>(QUEUES)) {
    const state = JSON.parse(row.text) as State;
    const count = (table: string, where = "TRUE") => {
      return one(`SELECT COUNT(*) AS n FROM ${table} WHERE queue = ? AND (${where})`, row.id);
    };
    const pairs: [string, number | undefined, number][] = [
      ...[STALLED, SUSPECT, BLOCKED_RETRY].map((line): [string, number, number] => {
        return [`line ${line}`, state.lines[line], count("items", `line = ${line}`)];
      }),
      ["ready", state.ready, count("items", `line = ${state.line}`)],
      ["earlier lines", state.lines[EARLIER], count("items", `line >= ${state.firstLine} AND line < ${state.line}`)],
      ["lines that are not in use", count("items", `line >= ${FIRST} AND line < ${state.firstLine}`), 0],
      ["lines to come", count("items", `line > ${state.line}`), 0],
      ["delayed", state.delayed, count("items", "due NOTNULL")],
      ["processing", state.processing, count("items", "token NOTNULL")],
      ["failing", state.failing, count("failures")],
      ["given up", state.kept, count("given_up")],
      ["groups", state.groups?.total ?? 0, count("groups")],
      ["idle groups", state.groups?.idle ?? 0, count("groups", "idle_finish NOTNULL")],
      ["groups with a turn", state.groups?.turning ?? 0, count("groups", "turn NOTNULL")],
      ["ready keys of groups", state.groups?.ready ?? 0, one(READY, row.id)],
      ["processing keys of groups", one(PROCESSING, row.id), state.groups ? count("items", "note NOTNULL") : 0],
      ["keys to redrive without a redrive", state.redrive?.stepAt === undefined ? count("redrive_keys") : 0, 0],
      ["times after the latest one", count("items", `token > ${state.last}`), 0],
    ];
    for (const [what, one, other] of pairs) {
      if (one !== other) wrong.push(`${row.name}: ${what}: ${one} is not ${other}`);
    }
  }
  return wrong;
}

const QUEUES = "SELECT id, name, state AS text FROM queues WHERE kind = 'queue'";
const READY = "SELECT coalesce(SUM(ready), 0) AS n FROM groups WHERE queue = ?";
const PROCESSING = "SELECT coalesce(SUM(processing), 0) AS n FROM groups WHERE queue = ?";
