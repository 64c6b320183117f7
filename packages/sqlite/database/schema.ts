/**
 * Tables of a database with queues. Times are in whole microseconds since 1970, by the time of the queue: see
 * `store/transaction.ts`.
 *
 * A key has at most one row in `items`, which exists while the key is ready, blocked, delayed or processing. A key that
 * is processing may be delayed too, and with `addWhileDelayed: "keep"` so may a key that is ready. The columns of each
 * of these states are null or 0 outside the state.
 *
 * The indexes are partial, so a row is in the index of a state only while its key is in the state.
 *
 * @module
 */

/**
 * Version of the tables, which the database stores as `user_version`. Raise it with each change of the tables: a file
 * with tables of another version is refused.
 */
export const SCHEMA_VERSION = 4;

/** Statements that create the tables. */
export const SCHEMA = `
CREATE TABLE queues (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,                 -- queue, or throttle that processes share
  name TEXT NOT NULL,
  state TEXT NOT NULL,                -- JSON: see store/state.ts
  UNIQUE (kind, name)
) STRICT;

CREATE TABLE items (
  id INTEGER PRIMARY KEY,
  queue INTEGER NOT NULL,
  key TEXT NOT NULL,
  payload TEXT,                       -- item as JSON, in a queue with keyOf
  trace TEXT,                         -- traceparent of the newest add
  stalls INTEGER NOT NULL,            -- number of stalls since the last attempt that ended
  priority REAL NOT NULL,             -- of a key that is ready, blocked or added again
  is_retry INTEGER NOT NULL,          -- kind of retry of a ready or added-again key, 0 for a first attempt
  -- ready or blocked
  line INTEGER,                       -- see store/item.ts
  place INTEGER,                      -- time when the key became ready; negative if it goes before other keys
  grp TEXT,                           -- group, in an order with groups; otherwise ''
  score REAL,                         -- place in the order of a discipline
  turn INTEGER,                       -- decides between equal scores
  -- delayed
  due INTEGER,
  due_turn INTEGER,                   -- decides between equal deadlines
  due_priority REAL NOT NULL,
  due_is_retry INTEGER NOT NULL,      -- kind of retry when it is due
  is_folding INTEGER NOT NULL,        -- whether adds are folded into the retry
  -- processing
  token INTEGER,
  owner INTEGER,
  cancelled TEXT,                     -- reason, if the key was cancelled: see store/cancels.ts
  is_added_again INTEGER NOT NULL,    -- 1: by a retry or the end of a delay, 2: by an add; 0 if it was not
  held_priority REAL NOT NULL,
  held_place INTEGER,
  note TEXT,                          -- note of the order about the hand-out
  UNIQUE (queue, key)
) STRICT;
CREATE INDEX items_by_place ON items (queue, line, place) WHERE line IS NOT NULL;
CREATE INDEX items_by_order ON items (queue, line, grp, score, turn) WHERE score IS NOT NULL;
CREATE INDEX items_by_due ON items (queue, due, due_turn) WHERE due IS NOT NULL;
CREATE INDEX items_by_owner ON items (queue, owner) WHERE owner IS NOT NULL;
CREATE INDEX cancelled_items ON items (queue, owner) WHERE cancelled IS NOT NULL;

CREATE TABLE owners (
  id INTEGER PRIMARY KEY,
  queue INTEGER NOT NULL,
  name TEXT NOT NULL,
  ends INTEGER,                       -- end of the lease; null if its keys are being taken away
  has_grace INTEGER NOT NULL,         -- whether the end includes the grace of a gap
  expired INTEGER,                    -- time when its keys began to be taken away
  tells_adds INTEGER NOT NULL,        -- whether the owner is told of adds of its keys
  UNIQUE (queue, name)
) STRICT;
CREATE INDEX owners_by_end ON owners (queue, ends) WHERE ends IS NOT NULL;

CREATE TABLE gaps (                   -- ends of the periods in which no owner was heard from
  queue INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (queue, at)
) STRICT, WITHOUT ROWID;

CREATE TABLE idle (                   -- processes that want work
  queue INTEGER NOT NULL,
  process TEXT NOT NULL,
  since INTEGER NOT NULL,
  seen INTEGER NOT NULL,              -- time of the latest call
  look INTEGER,                       -- time when the process will check for a due key
  PRIMARY KEY (queue, process)
) STRICT, WITHOUT ROWID;
CREATE INDEX idle_by_time ON idle (queue, since);

CREATE TABLE groups (                 -- see store/groups.ts
  queue INTEGER NOT NULL,
  name TEXT NOT NULL,
  start REAL NOT NULL,
  turn INTEGER,
  finish REAL NOT NULL,
  processing INTEGER NOT NULL,
  ready INTEGER NOT NULL,
  size INTEGER NOT NULL,
  cost REAL NOT NULL,
  full REAL NOT NULL,
  mean REAL NOT NULL,
  count INTEGER NOT NULL,
  pause INTEGER,
  probe TEXT,
  changes_at INTEGER,
  changes_turn INTEGER NOT NULL,
  idle_until REAL,
  idle_finish REAL,
  PRIMARY KEY (queue, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX groups_by_turn ON groups (queue, start, turn) WHERE turn IS NOT NULL;
CREATE INDEX groups_by_change ON groups (queue, changes_at, changes_turn) WHERE changes_at IS NOT NULL;
CREATE INDEX groups_by_finish ON groups (queue, idle_finish) WHERE idle_finish IS NOT NULL;
CREATE INDEX groups_with_blocked ON groups (queue) WHERE ready < size;

CREATE TABLE weights (                -- weights of groups, if they are not 1
  queue INTEGER NOT NULL,
  grp TEXT NOT NULL,
  weight REAL NOT NULL,
  PRIMARY KEY (queue, grp)
) STRICT, WITHOUT ROWID;

CREATE TABLE paused_groups (
  queue INTEGER NOT NULL,
  grp TEXT NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (queue, grp)
) STRICT, WITHOUT ROWID;
CREATE INDEX paused_groups_by_end ON paused_groups (queue, until);

CREATE TABLE failures (
  queue INTEGER NOT NULL,
  key TEXT NOT NULL,
  count INTEGER NOT NULL,
  ends INTEGER,                       -- time when the failures are forgotten, if they are
  due INTEGER,                        -- time when the retry is due, if early failures are not counted
  since INTEGER NOT NULL,
  error TEXT NOT NULL,
  PRIMARY KEY (queue, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX failures_by_count ON failures (queue, count DESC, key);
CREATE INDEX failures_by_end ON failures (queue, ends) WHERE ends IS NOT NULL;

CREATE TABLE buckets (
  queue INTEGER NOT NULL,
  id TEXT NOT NULL,
  tokens REAL NOT NULL,
  last INTEGER NOT NULL,
  rate REAL NOT NULL,
  burst REAL NOT NULL,
  full INTEGER NOT NULL,              -- time when the bucket will be full
  PRIMARY KEY (queue, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX buckets_by_time ON buckets (queue, full);

CREATE TABLE given_up (
  queue INTEGER NOT NULL,
  at INTEGER NOT NULL,
  key TEXT NOT NULL,
  payload TEXT,
  error TEXT NOT NULL,
  reason TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  first_failed INTEGER NOT NULL,
  grp TEXT,
  stalls INTEGER NOT NULL,
  PRIMARY KEY (queue, at),
  UNIQUE (queue, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE waits (                  -- waits of processes for keys: see store/waits.ts
  queue INTEGER NOT NULL,
  key TEXT NOT NULL,
  since INTEGER NOT NULL,             -- negative if the current hand-out was retried by hand: see store/waits.ts
  process TEXT NOT NULL,
  id INTEGER NOT NULL,                -- number of the wait in its process
  ends INTEGER NOT NULL,              -- time when the wait is forgotten, unless its process keeps it
  PRIMARY KEY (queue, key, since)
) STRICT, WITHOUT ROWID;
CREATE INDEX waits_by_end ON waits (queue, ends);

CREATE TABLE outcomes (               -- outcomes of waits that their processes have not received
  queue INTEGER NOT NULL,
  process TEXT NOT NULL,
  ids TEXT NOT NULL,                  -- numbers of the waits
  outcome TEXT NOT NULL,
  ends INTEGER NOT NULL,              -- time when the outcome is forgotten
  PRIMARY KEY (queue, process, ids)
) STRICT, WITHOUT ROWID;
CREATE INDEX outcomes_by_end ON outcomes (queue, ends);

CREATE TABLE messages (               -- newest message to each address of a process: see messages.ts
  process TEXT PRIMARY KEY,
  number INTEGER NOT NULL,
  delay REAL NOT NULL,                -- milliseconds until there may be work
  sent INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE machines (               -- machine that uses the file, and when it did, in milliseconds: see machines.ts
  id TEXT PRIMARY KEY,
  seen INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE redrive_keys (           -- keys of the running redrive, if it is of listed keys
  queue INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (queue, at)
) STRICT, WITHOUT ROWID;
`;
