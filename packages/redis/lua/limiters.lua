-- Failures and token buckets on the server. A script that uses them must define
-- `prefix`, the prefix of the queue's keys, and `now`, the time in whole microseconds since 1970.
--
-- Only history is stored: the number of failures of each key, and the tokens of each bucket. Each call sends the rules
-- for counting, and each failure the delay that the process's limiter gives: see `delay_nodes.ts`. So a changed config
-- takes effect immediately.
--
-- - `failures`, a hash by key: `COUNT`, the number of failures since the key's failures were last forgotten. If the
--   rules have `forgetAfter`, or ignore early failures, the value is `COUNT ENDS`: the time when the failures expire,
--   or `-` if they don't. If the rules ignore early failures, ` @DUE` follows: the time when the retry is due.
-- - `errors`, a hash by key: the error of the key's latest failure. A failure without an error keeps the previous
--   error. Removed with the failures.
-- - `failingsince`, a hash by key: the time of the first of these failures. Removed with the failures.
-- - `failing`, a sorted set: the keys that have failed, with the negative of `COUNT` as the score, so that the keys
--   with the most failures come first. Removed with the failures.
-- - `buckets`, a hash by bucket: `TOKENS LAST RATE BURST FULL`: the tokens at the time `LAST`, the rate and burst of
--   the call that stored the entry, and the time when the bucket will be full. If a call has a different rate or burst,
--   the bucket is first filled at the old rate, up to the old burst, and then changed, just as `setRate` and `setBurst`
--   do.
--
-- limiters().input(given)                  returns the decoded input for a failure. Refuses kinds of delays that this
--                                          release doesn't know, so call this function before the script changes
--                                          anything
-- limiters().when(rules, key, input, started, min_delay)
--                                          counts a failure and returns the delay in ms. If the delay was computed for
--                                          a wrong number of failures, counts nothing, and returns nil and the correct
--                                          number. `started` is the time at which the attempt began, or nil for an
--                                          add by hand, which is not counted if the limiter doesn't count; `min_delay`
--                                          is the minimum delay in µs
-- limiters().keep_errors(errors)           stores the errors of counted failures: keys, each followed by its error
-- limiters().requeues(rules, key)          returns the number of failures of the key; 0 if the limiter doesn't count
-- limiter_forget(key)                      forgets the failures
-- failures_of(keys)                        returns the number of failures of each key
-- limiters().if_retries_left(rules, key, started, max_retries)
--                                          returns the number of failures of a key whose attempt has failed, if the key
--                                          has retries left: there are fewer failures, or this one is not counted
-- limiters().tokens_take(id, rate, burst, wanted, reserved)
--                                          takes up to `wanted` tokens, but leaves the first `reserved` ones (default:
--                                          0), and returns the number taken. If this is less than `wanted`, also
--                                          returns the µs until the next token beside these, or nil if no token will
--                                          come
-- limiters().tokens_give_back(id, rate, burst, count)
--                                          returns unused tokens to the bucket; a negative count takes tokens, even
--                                          more than there are
--
-- `rules` are decoded, and `given` is JSON text. A negative rate stands for an infinite rate.
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

  -- Reads a stored entry. Returns the number of failures, and the time when the retry is due, if it is known.
  local function failures_in(stored)
    local failures = tonumber(stored or 0)
    if failures then return failures end
    local count, ends = string.match(stored, '^(%S+) (%S+)')
    failures, ends = tonumber(count), tonumber(ends)
    if not failures or ends and ends <= now then return 0 end
    return failures, tonumber(string.match(stored, '@(%S+)$'))
  end

  -- Returns whether an attempt began before the retry was due, if the time of the retry is known. The microsecond
  -- allows for rounding, as in limiters in memory.
  local function is_early(due, started)
    return due and due - started > 1
  end

  local function are_over(stored)
    return failures_in(stored) == 0
  end

  local function require_known(node)
    if type(node) == 'number' then return end
    local kind = node[1]
    if not (kind == 'bucket' or kind == 'longest' or kind == 'at-most' or kind == 'times') then
      error({ err = "WQFORMAT Redis doesn't know the delay '" .. tostring(kind) .. "' in this release" })
    end
    for i = 2, #node do
      if type(node[i]) == 'table' then require_known(node[i]) end
    end
  end

  local function read_input(given)
    local input = cjson.decode(given)
    require_known(input[2])
    return input
  end

  local function delay_of(node)
    if type(node) == 'number' then return node end
    local kind = node[1]
    if kind == 'bucket' then return bucket_delay(node[2], node[3], node[4])
    elseif kind == 'longest' then
      local longest = delay_of(node[2])
      for i = 3, #node do longest = math.max(longest, delay_of(node[i])) end
      return longest
    elseif kind == 'at-most' then return math.min(delay_of(node[2]), node[3])
    elseif kind == 'times' then return delay_of(node[2]) * node[3]
    else error({ err = "WQFORMAT Redis doesn't know the delay '" .. tostring(kind) .. "' in this release" }) end
  end

  local function limiter_requeues(rules, key)
    return rules.counts == false and 0 or (failures_in(call('HGET', failures_key, key)))
  end

  -- Returns the entry of a key, whose last delay ends at a time, and the time when its failures expire.
  local function entry_of(rules, count, due_at)
    local entry = string.format('%.0f', count)
    if not rules.forgetAfter and not rules.ignoresEarly then return entry end
    local ends = rules.forgetAfter and math.min(FAR, due_at + math.floor(rules.forgetAfter * 1000 + 0.5))
    entry = entry .. (ends and string.format(' %.0f', ends) or ' -')
    return rules.ignoresEarly and entry .. string.format(' @%.0f', due_at) or entry, ends
  end

  local function limiter_when(rules, key, input, started, min_delay)
    local stored = call('HGET', failures_key, key)
    local failures, due = failures_in(stored)
    if rules.ignoresEarly and is_early(due, started or now) then
      local due_at = math.min(FAR, now + min_delay)
      if due_at > due then call('HSET', failures_key, key, (entry_of(rules, failures, due_at))) end
      return math.max(due - now, 0) / 1000
    end
    if input[1] >= 0 and input[1] ~= failures then return nil, failures end
    local delay = delay_of(input[2])
    if not started and rules.counts == false then return delay end
    if failures == 0 then
      call('HDEL', errors_key, key) -- left over from forgotten or expired failures
      call('HSET', prefix .. 'failingsince', key, string.format('%.0f', now))
    end
    local due_at = math.min(FAR, now + math.max(math.floor(delay * 1000 + 0.5), min_delay))
    local count = failures + 1
    local entry, ends = entry_of(rules, count, due_at)
    if not stored and ends then drop_some(failures_key, are_over, drop_with_failures) end
    call('HSET', failures_key, key, entry)
    call('ZADD', prefix .. 'failing', -count, key)
    return delay
  end

  local function limiter_if_retries_left(rules, key, started, max_retries)
    local failures, due = failures_in(call('HGET', failures_key, key))
    local isLeft = failures < max_retries or rules.ignoresEarly and is_early(due, started)
    return isLeft and failures or nil
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
    input = read_input,
    when = limiter_when,
    keep_errors = keep_errors,
    requeues = limiter_requeues,
    if_retries_left = limiter_if_retries_left,
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
  local failures = {}
  for first = 1, #keys, 1000 do
    local stored = redis.call('HMGET', prefix .. 'failures', unpack(keys, first, math.min(first + 999, #keys)))
    for i = 1, #stored do
      failures[first + i - 1] = tonumber(stored[i] or 0) or (limiters().failures_in(stored[i]))
    end
  end
  return failures
end
