import type { CountingNode, LimiterKind, OtherNode } from "@workqueue/engine";
import { chain, isOneOf, mapOf, refuse } from "./kinds.ts";
import { inParts } from "./in_parts.ts";

/** Lua expressions for the delay of a `node` after `count` failures, by kind of limiter. */
const COUNTING: Readonly<Record<CountingNode[0], string>> = {
  "exponential": "math.min(node[3] * 2 ^ math.min(count - 1, 1023), node[4])",
  "fast-slow": "count <= node[5] and node[3] or node[4]",
  "steps": "node[3][math.min(count, #node[3])]",
  "given": "draw()",
};

/** Lua that returns the delay of a `node` of the other kinds of limiters. The function `ask` asks inner limiters. */
const OTHERS: Readonly<Record<OtherNode[0], string>> = {
  "max-of": /* lua */ `
        local longest = 0
        for i = 2, #node do longest = math.max(longest, ask(node[i], groups)) end
        return longest`,
  "bucket": "return bucket_delay(node[2] .. groups, node[3], node[4])",
  "max-wait": "return math.min(ask(node[2], groups), node[3])",
  "jitter": /* lua */ `
        local random = draw()
        return ask(node[2], groups) * (1 - node[3] * random)`,
  "per-group": /* lua */ `
        local at = string.find(key, node[2], 1, true)
        local group = at and string.sub(key, 1, at - 1) or key
        return ask(node[3], groups .. '/' .. #group .. ':' .. group)`,
  "named": "return ask(node[2], '') -- one limiter for all groups",
};

/** Kinds of limiters that this engine evaluates. */
export const LIMITERS: Readonly<Record<LimiterKind, string>> = { ...COUNTING, ...OTHERS };

/**
 * Limiters and token buckets on the server, as Lua functions for other scripts. A script that uses them must define
 * `prefix`, the prefix of the queue's keys, and `now`, the time in whole microseconds since 1970.
 *
 * Only history is stored: the number of failures of each key, and the tokens of each bucket. Each call sends the config
 * as a plan from `limiter_plan.ts`, so a changed config takes effect immediately. Each limiter returns the same delay
 * as the in-memory limiter of the same type.
 *
 * - `failures`, a hash by key: `COUNT`, the number of failures since the key's failures were last forgotten. If
 *   limiters have `forgetAfter`, the value is `COUNT UNTIL COUNT1 UNTIL1 COUNT2 UNTIL2 …`: the counts of these limiters
 *   in the order of the plan, and the time when each count expires. The first `UNTIL` is `-` if `COUNT` doesn't expire.
 *   If the plan ignores early failures, ` @DUE` follows: the time when the retry is due.
 * - `errors`, a hash by key: the error of the key's latest failure. A failure without an error keeps the previous
 *   error. Removed with the failures.
 * - `failingsince`, a hash by key: the time of the first of these failures. Removed with the failures.
 * - `failing`, a sorted set: the keys that have failed, with the negative of `COUNT` as the score, so that the keys
 *   with the most failures come first. Removed with the failures.
 * - `buckets`, a hash by bucket: `TOKENS LAST RATE BURST FULL`: the tokens at the time `LAST`, the rate and burst of
 *   the call that stored the entry, and the time when the bucket will be full. If a call has a different rate or burst,
 *   the bucket is first filled at the old rate, up to the old burst, and then changed, just as `setRate` and `setBurst`
 *   do.
 *
 * ```text
 * limiters().read(text)                    returns the plan of a limiter. Refuses kinds of limiters that this release
 *                                          doesn't know, so call this function before the script changes anything
 * limiters().when(plan, key, given, started, min_delay)
 *                                          counts a failure and returns the delay in ms. If `given` was computed for a
 *                                          wrong number of failures, counts nothing, and returns nil and the correct
 *                                          number. `started` is the time at which the attempt began, and `min_delay`
 *                                          the minimum delay in µs
 * limiters().keep_errors(errors)           stores the errors of counted failures: keys, each followed by its error
 * limiters().requeues(plan, key)           returns the number of failures that the limiter has counted for the key
 * limiter_forget(key)                      forgets the failures
 * failures_of(keys)                        returns the number of failures of each key, and for each key whether an
 *                                          attempt that begins now is early (1 or 0); nil instead if no entry has a
 *                                          time when its retry is due
 * limiters().tokens_take(id, rate, burst, wanted, reserved)
 *                                          takes up to `wanted` tokens, but leaves the first `reserved` ones (default:
 *                                          0), and returns the number taken. If this is less than `wanted`, also
 *                                          returns the µs until the next token beside these, or nil if no token will
 *                                          come
 * limiters().tokens_give_back(id, rate, burst, count)
 *                                          returns unused tokens to the bucket; a negative count takes tokens, even
 *                                          more than there are
 * ```
 *
 * `plan` is from `read`, and `given` is JSON text. A negative rate stands for an infinite rate.
 */
export const limiters = /* lua */ `
-- Removes the error, the time of the first failure and the "failing" entry of a key.
local function drop_with_failures(key)
  redis.call('HDEL', prefix .. 'errors', key)
  redis.call('HDEL', prefix .. 'failingsince', key)
  redis.call('ZREM', prefix .. 'failing', key)
end

local function make_limiters()
  local call = redis.call
  local NEVER = 9223372036854.775808 -- ms: 2^63 ns, as in memory
  local FAR = 9e15 -- µs: the year 2255
  local failures_key, errors_key, buckets_key = prefix .. 'failures', prefix .. 'errors', prefix .. 'buckets'
  local LARGEST = 1.7976931348623157e308 -- replaces an infinite rate, because 0 times infinity is NaN

  -- Drops expired entries. There is no timer, so two random entries are checked for each new entry. This keeps the hash
  -- within twice the number of entries that have not expired.
  local function drop_some(name, is_over, drop_more)
    local some = call('HRANDFIELD', name, -2, 'WITHVALUES')
    for i = 1, #some, 2 do
      if is_over(some[i + 1], some[i]) then
        call('HDEL', name, some[i])
        if drop_more then drop_more(some[i]) end
      end
    end
  end

  -- Returns the current number of tokens in a bucket, whether the bucket is new, and whether it is stored with another
  -- rate or burst. A stored bucket that can't be read is treated as full.
  local function tokens_in(id, rate, burst)
    local stored = call('HGET', buckets_key, id)
    if not stored then return burst, true, false end
    local tokens, last, old_rate, old_burst = string.match(stored, '^(%S+) (%S+) (%S+) (%S+)')
    tokens, last, old_rate, old_burst = tonumber(tokens), tonumber(last), tonumber(old_rate), tonumber(old_burst)
    if not tokens or not last or not old_rate or not old_burst then return burst, false, true end
    local elapsed = math.max(now - last, 0)
    local seconds = math.floor(elapsed / 1e6) + elapsed % 1e6 * 1000 / 1e9 -- rounded as Go rounds nanoseconds
    local came = seconds * (old_rate < 0 and LARGEST or old_rate)
    return math.min(tokens + came, old_burst, burst), false, old_rate ~= rate or old_burst ~= burst
  end

  local function is_full(stored)
    local full = tonumber(string.match(stored, '(%S+)$'))
    return not full or full <= now
  end

  local function tokens_store(id, rate, burst, tokens, is_new)
    local full = rate < 0 and now + 1
      or math.min(FAR, now + (burst - tokens) / rate * 1e6 + 1) -- FAR comes first: the other argument may be NaN
    if is_new then drop_some(buckets_key, is_full) end
    call('HSET', buckets_key, id, string.format('%.17g %.17g %.17g %.17g %.17g', tokens, now, rate, burst, full))
  end

  -- Returns the time until the given number of tokens has come, in whole nanoseconds, or nil if they never come.
  local function time_for(tokens, rate)
    local time = rate > 0 and math.floor(tokens / rate * 1e9)
    return time and time < 2 ^ 62 and time or nil
  end

  local function bucket_delay(id, rate, burst)
    local tokens, is_new, is_changed = tokens_in(id, rate, burst)
    if rate < 0 or burst < 1 then
      if is_changed then tokens_store(id, rate, burst, tokens, false) end
      return rate < 0 and 0 or NEVER
    end
    tokens = tokens - 1
    tokens_store(id, rate, burst, tokens, is_new)
    if tokens >= 0 then return 0 end
    local wait = time_for(-tokens, rate)
    return wait and wait / 1e6 or NEVER
  end

  local function tokens_take(id, rate, burst, wanted, reserved)
    reserved = reserved or 0
    local tokens, is_new, is_changed = tokens_in(id, rate, burst)
    local taken = rate < 0 and wanted or math.max(0, math.min(wanted, math.floor(tokens) - reserved))
    if rate >= 0 then tokens = tokens - taken end
    if is_changed or (rate >= 0 and taken > 0) then tokens_store(id, rate, burst, tokens, is_new) end
    if taken == wanted then return taken end
    local wait = burst > 0 and time_for(1 + reserved - tokens, rate)
    return taken, wait and math.floor(wait / 1000) + 1 or nil
  end

  local function tokens_give_back(id, rate, burst, count)
    if rate < 0 or count == 0 then return end
    local tokens, is_new = tokens_in(id, rate, burst)
    if count > 0 and is_new then return end
    tokens_store(id, rate, burst, math.min(tokens + count, burst), is_new)
  end

  -- Reads a stored entry. Returns the number of failures, the count and expiry of each limiter with forgetAfter, and
  -- the time when the retry is due.
  local function failures_in(stored)
    local failures = tonumber(stored or 0)
    if failures then return failures, {} end
    local ends
    local passing = {}
    local due = tonumber(string.match(stored, '@(%S+)$'))
    for word in string.gmatch(stored, '[^%s@]+') do
      if not failures then failures = tonumber(word) or 0
      elseif ends == nil then ends = tonumber(word) or FAR
      else passing[#passing + 1] = tonumber(word) or 0 end
    end
    if not failures or ends and ends <= now then return 0, {} end
    return failures, passing, due
  end

  local function are_over(stored)
    return failures_in(stored) == 0
  end

  -- Returns the number of failures that a limiter has counted for the key. A limiter that is asked several times per
  -- failure counts each time.
  local function counted(counting, failures, passing)
    if counting == 0 then return failures end
    local i = counting[1]
    if i == 0 then return failures * counting[2] end
    if not passing[2 * i] then return failures end -- counted before the limiter had a forgetAfter
    return passing[2 * i] > now and passing[2 * i - 1] or 0
  end

  -- Returns whether a kind of limiter counts failures.
  local function counts(kind)
    return ${isOneOf("kind", Object.keys(COUNTING))}
  end

  local function require_known(node)
    local kind = node[1]
    if counts(kind) then return end
    if not (${isOneOf("kind", Object.keys(OTHERS))}) then ${refuse("limiter", "kind")} end
    for i = 2, #node do
      if type(node[i]) == 'table' then require_known(node[i]) end
    end
  end

  local function read_plan(text)
    local plan = cjson.decode(text)
    require_known(plan[1])
    return plan
  end

  local function limiter_requeues(plan, key)
    local failures, passing = failures_in(call('HGET', failures_key, key))
    local function ask(node)
      if counts(node[1]) then return counted(node[2], failures, passing) end
      local most = 0
      for i = 2, #node do
        if type(node[i]) == 'table' then most = math.max(most, ask(node[i])) end
      end
      return most
    end
    return ask(plan[1])
  end

  local function limiter_when(plan, key, given, started, min_delay)
    local stored = call('HGET', failures_key, key)
    local failures, passing, due = failures_in(stored)
    if plan[4] and due and started < due then return math.max(due - now, 0) / 1000 end
    local draws = given and given ~= '' and cjson.decode(given) or { -1 }
    if draws[1] >= 0 and draws[1] ~= failures then return nil, failures end

    local drawn = 1
    local function draw()
      drawn = drawn + 1
      return draws[drawn] or error({ err = 'ERR the input of the limiter has too few numbers' })
    end

    -- Returns the count of a limiter, including the current failure.
    local function count_of(counting)
      if counting == 0 then return failures + 1 end
      if counting[1] == 0 then return failures * counting[2] + counting[3] end
      return counted(counting, failures, passing) + 1
    end

    -- Returns the delay for a node of the plan. Each group has its own buckets, because their names end in "groups".
    local function ask(node, groups)
      local kind = node[1]
      ${chain("kind", OTHERS)}
      end
      local counting = node[2]
      local count = count_of(counting)
      local delay
      ${chain("kind", mapOf(COUNTING, (delay) => `delay = ${delay}`))}
      else ${refuse("limiter", "kind")} end
      if counting ~= 0 and counting[1] > 0 then
        local i = counting[1]
        passing[2 * i - 1] = count
        passing[2 * i] = math.min(FAR, now + (delay + counting[2]) * 1000)
      end
      return delay
    end

    local delay = ask(plan[1], '')
    if failures == 0 then
      call('HDEL', errors_key, key) -- left over from forgotten or expired failures
      call('HSET', prefix .. 'failingsince', key, string.format('%.0f', now))
    end
    local entry = failures + 1
    if plan[2] then
      local due_at = plan[4] and
        math.min(FAR, now + math.max(math.floor(delay * 1000 + 0.5), min_delay))
      local words, last = {}, due_at and math.min(FAR, due_at + plan[4] * 1000) or 0
      for i = 2, 2 * plan[2], 2 do
        words[#words + 1] = string.format(' %.17g %.17g', passing[i - 1], passing[i])
        last = math.max(last, passing[i])
      end
      local ends = plan[3] == 1 and string.format('%.17g', last) or '-'
      entry = string.format('%.17g ', entry) .. ends .. table.concat(words)
      if due_at then entry = entry .. string.format(' @%.17g', due_at) end
      if not stored and plan[3] == 1 then drop_some(failures_key, are_over, drop_with_failures) end
    end
    call('HSET', failures_key, key, entry)
    call('ZADD', prefix .. 'failing', -failures - 1, key)
    return delay
  end

  local function is_forgotten(_, key)
    return call('HEXISTS', failures_key, key) == 0
  end

  -- Stores the last error of each key. Processes that run an older release forget failures without removing "errors"
  -- and "failing" entries, so leftover entries are dropped here.
  local function keep_errors(errors)
    local news = call('HSET', errors_key, unpack(errors))
    if news == 0 or call('HLEN', errors_key) <= call('HLEN', failures_key) then return end
    for _ = 1, news do drop_some(errors_key, is_forgotten, drop_with_failures) end
  end

  return {
    read = read_plan,
    when = limiter_when,
    keep_errors = keep_errors,
    requeues = limiter_requeues,
    failures_in = failures_in,
    tokens_take = tokens_take,
    tokens_give_back = tokens_give_back,
  }
end

-- The functions are created on first use. Most calls don't need them, and defining them takes longer than the rest of
-- such a call.
local made
local function limiters()
  made = made or make_limiters()
  return made
end

local function limiter_forget(key)
  if redis.call('HDEL', prefix .. 'failures', key) == 1 then drop_with_failures(key) end
end

local function failures_of(keys)
  local failures, early, has_due = {}, {}, false
  ${
  inParts("keys", (part) => /* lua */ `
    local stored = redis.call('HMGET', prefix .. 'failures', ${part})
    for i = 1, #stored do
      local count, due = tonumber(stored[i] or 0), nil
      if not count then
        local _
        count, _, due = limiters().failures_in(stored[i])
        has_due = has_due or due ~= nil
      end
      failures[first + i - 1] = count
      early[first + i - 1] = due and now < due and 1 or 0
    end`)
}
  return failures, has_due and early or nil
end
`;
