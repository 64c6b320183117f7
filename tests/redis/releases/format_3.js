// deno-fmt-ignore-file
// deno-lint-ignore-file -- minified: see older_release.ts
import{createHash as de}from"node:crypto";function F(t){let e;return{text:t,get sha1(){return e??=de("sha1").update(t).digest("hex")}}}var n={write:t=>t,readInLua:t=>t,read:t=>t},d={write:t=>`${t}`,readInLua:t=>`tonumber(${t})`,read:t=>t},c={write:t=>t?"1":"0",readInLua:t=>`${t} == '1'`,read:t=>t===1},ce=2**53-1,f={write:t=>`${Math.max(Math.min(Math.round(t*1e3),ce),0)}`,readInLua:t=>`tonumber(${t})`,read:t=>t/1e3};function u(t){return{write:e=>e===void 0?"":t.write(e),readInLua:e=>`${e} ~= '' and ${t.readInLua(e)} or nil`,read:e=>e==null?void 0:t.read(e),isOptional:!0,writeInLua:e=>`${e} or false`}}function H(t){return{read:e=>e.map(s=>t.read(s))}}function C(t){let e=Object.entries(t);return{read:s=>{let a=e.map(([r],l)=>[r,Number(s[l]??0)]);return Object.fromEntries(a)},writeInLua:()=>`redis.call('HMGET', q.meta, ${e.map(([,s])=>`'${s}'`).join(", ")})`,usesInLua:()=>[]}}function E(t){let e=Object.keys(t),s=Object.fromEntries(e.map(r=>[r,void 0])),a=r=>`{ ${e.map(q).map(r).join(", ")} }`;return{declareInLua:r=>`local ${r} = ${a(l=>`${l} = {}`)}`,writeInLua:r=>a(l=>`${r}.${l}`),usesInLua:r=>[r,...e.map(l=>`.${q(l)}`)],read(r){let l=r,o=Array.from(l[0]??[],()=>({...s}));for(let[k,m]of e.entries()){let y=t[m],p=l[k]??[];if(!(p.length===0&&y.isOptional)){if(p.length!==o.length)throw new Error(`'${m}' has ${p.length} values for ${o.length} rows`);for(let g=0;g<p.length;g++)o[g][m]=y.read(p[g])}}return o}}}function b(t){let e=Object.entries(t),s=e.map(([a,r])=>[q(a),r]);return{begin:s.map(([a,r])=>r.declareInLua?.(a)??"").join(`
`),end:`return reply({ ${s.map(([a,r])=>r.writeInLua?.(a)??a).join(", ")} })`,uses:s.flatMap(([a,r])=>r.usesInLua?.(a)??[a]),read(a){let r=a;if(r.length!==e.length)throw new Error(`'${e[r.length]?.[0]}' was not replied`);let l={};for(let o=0;o<e.length;o++)l[e[o][0]]=e[o][1].read(r[o]);return l}}}var S={read(){},end:"return reply(0)"};function q(t){return t.replace(/Ms$/,"Us")}var $=(t,e,s)=>`
local STEP_BACK = 100000 -- \xB5s; a larger backward jump means that the clock was set back
local last, offset = tonumber(${e}) or 0, tonumber(${s}) or 0
if last - time - offset > STEP_BACK then
  offset = last - time
  redis.call('HSET', ${t}, 'offset', whole(offset))
end
local now = math.max(last + 1, time + offset)`;var B="redis.call('TIME')",P=t=>`
local prefix = string.sub(KEYS[1], 1, -5)
-- Names of keys on the server. All names are in one table, because each local variable that a function uses takes time
-- in each call.
local q = {
  meta = KEYS[1],
  ready = prefix .. 'ready',         -- zset: key, by the tick at which it became ready
  stalled = prefix .. 'stalled',     -- like ready: keys that stalled once; an owner may have only a few at a time
  suspects = prefix .. 'suspects',   -- like ready: keys that stalled more than once; they are handed out alone
  delayed = prefix .. 'delayed',     -- zset: key, by the time when it is due
  folding = prefix .. 'folding',     -- set of delayed keys whose attempt failed, if adds are folded into their retries
  holders = prefix .. 'holders',     -- hash: key to flag, token and owner
  held_by = prefix .. 'held:',       -- for each owner, the set of keys that it has leases on
  stalled_by = prefix .. 'stalled:', -- for each owner, the set of its keys that had stalled once
  owners = prefix .. 'owners',       -- zset: owner, by the end of its lease; an odd end includes the owner's grace
  gaps = prefix .. 'gaps',           -- zset: ends of the periods in which no owner was heard from
  expired = prefix .. 'expired',     -- zset: owner whose keys are being taken away, by the time when this began
  items = prefix .. 'items',         -- hash: key to payload, in a queue with keyOf
  stalls = prefix .. 'stalls',       -- hash: key to its number of stalls; an x in front marks a given-up key
  given_up = prefix .. 'givenup',    -- zset: key, by the time when it was given up
  reasons = prefix .. 'reasons',     -- hash: given-up key to error, payload and reason
  lost = prefix .. 'lost',           -- zset: tokens that were taken away from their owners
  idle = prefix .. 'idle',           -- zset: process that wants work, by the time when it became idle
  looks = prefix .. 'looks',         -- hash: process to the time when it will check for a due key
  channel = prefix .. 'wake:',       -- channel of each process, for messages that there may be work
}

local BATCH = 200           -- maximum number of keys moved in one call, because a script blocks the server
local KEPT = 10000          -- maximum number of given-up keys, and of lost tokens, that are stored
local FOREVER = 2^53 - 1    -- larger numbers are not exact
local SECOND_LOOK = 50000   -- \xB5s between the deadline of a key and the check by a second process

local function whole(number)
  return string.format('%.0f', number)
end

-- Version of the stored data. Scripts refuse data of another version.
local FORMAT = '3'
local clock = ${t}
local time = clock[1] * 1000000 + clock[2]
local stored = redis.call('HMGET', q.meta, 'format', 'last', 'heard', 'checked', 'paused', 'offset', 'duty', 'payloads',
  'folding')
if stored[1] ~= FORMAT then
  if stored[1] then
    local advice = (tonumber(stored[1]) or 0) > tonumber(FORMAT) and 'Use the release that stored it'
      or 'Let the processes of the older release finish its items, then delete its keys (' ..
        prefix .. '*), or use another name'
    return redis.error_reply('WQFORMAT Cannot use queue ' .. string.match(prefix, '{(.*)}') ..
      ': the server has it in format '
      .. stored[1] .. ', and this release uses format ' .. FORMAT .. '. ' .. advice)
  end
  redis.call('HSET', q.meta, 'format', FORMAT)
end

-- Time of the queue: see steady_time.ts.
${$("q.meta","stored[2]","stored[6]")}
last = now
local function tick()
  last = last + 1
  return last
end

-- Time when any owner was last heard from.
local heard = tonumber(stored[3]) or 0
-- Time of the last check for expired leases; 0 if some keys of expired leases have not been taken away yet.
local checked = tonumber(stored[4]) or 0
-- Whether the queue is paused. While it is paused, no key is handed out and no process is woken.
local isPaused = stored[5]
-- Owner that has the duty to try suspects, and the time when the duty ends if the owner is not heard from. The stage is
-- ":" while the owner still has other keys, and "!" after that.
local dutyEnd, dutyStage, dutyOwner = string.match(stored[7] or '', '^(%d+)([:!])(.*)$')
-- Whether items were ever added with payloads.
local hasPayloads = stored[8]
-- Whether adds were ever folded into the retry of a key.
local hasFolding = stored[9]

-- Stores the queue's time and returns the reply of the script.
local function reply(value)
  redis.call('HSET', q.meta, 'last', whole(last), 'heard', whole(heard), 'checked', whole(checked))
  return value
end

-- Records that an owner was heard from. Each owner renews its lease three times per lease duration. A gap of more than
-- half a lease duration means that the server was unreachable, its clock jumped, or no process was running. Owners
-- could not renew during the gap, so each lease lasts for at least one lease duration from the end of the gap.
local function hear(lease)
  if now - heard > lease / 2 then
    local first = redis.call('ZRANGE', q.owners, 0, 0, 'WITHSCORES')[2]
    if first then
      redis.call('ZREMRANGEBYSCORE', q.gaps, '-inf', whole(first - lease)) -- all owners have renewed since
      redis.call('ZADD', q.gaps, now, whole(now))
    else
      redis.call('DEL', q.gaps)
    end
  end
  heard = now
end

-- Returns the end of a lease that begins now. The end is an even number, because an odd end includes a grace.
local function leaseEnd(lease)
  local ends = now + lease
  return ends + ends % 2
end

-- Returns the end of an owner's lease, including its grace. After each renewal, an owner has one grace, for the first
-- gap.
local function graceEnd(ends, lease)
  if ends % 2 == 1 then return ends end
  local gap = redis.call('ZRANGE', q.gaps, '(' .. whole(ends - lease), '+inf', 'BYSCORE', 'LIMIT', 0, 1)[1]
  local grace = gap and gap + lease or 0
  return grace > ends and grace + 1 - grace % 2 or ends
end

-- Gives an owner the duty to try suspects, for the duration of a lease.
local function takeDuty(owner, lease, stage)
  redis.call('HSET', q.meta, 'duty', whole(now + lease) .. stage .. owner)
end

-- Returns the flag, token and owner of a key that is processing. The flag is "+" if the key was added again during
-- processing, and "-" otherwise.
local function split(holder)
  return string.match(holder, '^(.)(%d+):(.*)$')
end

-- Records that a process no longer wants work. Returns whether the process wanted work before.
local function stopIdling(process)
  if redis.call('ZREM', q.idle, process) == 0 then return false end
  redis.call('HDEL', q.looks, process)
  return true
end

-- Plans the checks for the next due key. The two processes that have been idle longest check. The second process checks
-- 50 ms later, in case the first process is gone. If \`caller\` is one of the two, returns the time of its check.
-- Notifies another process if it must check earlier than planned.
local function watchDue(caller)
  local due = not isPaused and redis.call('ZRANGE', q.delayed, 0, 0, 'WITHSCORES')[2]
  if not due then return nil end
  local look
  local rank = 0
  while rank < 2 do
    local process = redis.call('ZRANGE', q.idle, rank, rank)[1]
    if not process then break end
    local at = due + rank * SECOND_LOOK
    local known = process ~= caller and tonumber(redis.call('HGET', q.looks, process))
    local isGone = false
    if not known or known > at or known < now - SECOND_LOOK then
      if process == caller then look = at
      else isGone = redis.call('PUBLISH', q.channel .. process, whole(math.max(at - now, 1))) == 0 end
      if isGone then stopIdling(process) else redis.call('HSET', q.looks, process, whole(at)) end
    end
    if not isGone then rank = rank + 1 end
  end
  return look
end

-- Wakes the process that became idle last. The processes that became idle first stay idle, because they check for due
-- keys. Skips processes without a subscription, because they are gone. Returns whether a process was woken.
local function wake()
  while true do
    local process = redis.call('ZPOPMAX', q.idle)[1]
    if not process then return false end
    redis.call('HDEL', q.looks, process)
    if redis.call('PUBLISH', q.channel .. process, '') > 0 then return true end
  end
end

local function wakeForReady()
  if isPaused or redis.call('EXISTS', q.idle) == 0 then return end
  if redis.call('EXISTS', q.ready, q.stalled, q.suspects) > 0 then wake() end
end

-- Removes a key from the given-up keys. A key that has stalled becomes a suspect.
local function revive(key, stalls)
  redis.call('ZREM', q.given_up, key)
  redis.call('HDEL', q.reasons, key)
  if stalls == 'x0' then
    redis.call('HDEL', q.stalls, key)
    return false
  end
  redis.call('HSET', q.stalls, key, 2)
  return '2'
end

-- Returns the line for a key with this number of stalls: ready, stalled or suspects.
local function lineOf(stalls)
  if not stalls then return q.ready end
  return tonumber(stalls) == 1 and q.stalled or q.suspects
end

-- Puts a key that is not processing into its line. A key that is already in the line keeps its place.
local function makeReady(key, place)
  local stalls = redis.call('HGET', q.stalls, key)
  if stalls and string.sub(stalls, 1, 1) == 'x' then stalls = revive(key, stalls) end
  redis.call('ZADD', lineOf(stalls), 'NX', place, key)
end

local function isReady(key)
  return redis.call('ZSCORE', q.ready, key) or redis.call('ZSCORE', q.stalled, key) or
    redis.call('ZSCORE', q.suspects, key)
end

-- Handles a key that is due or added now. The key becomes ready at \`place\`. A key that is processing becomes ready
-- after its work ends.
local function come(key, place, holder)
  if not holder then
    makeReady(key, place)
  elseif string.sub(holder, 1, 1) == '-' then
    redis.call('HSET', q.holders, key, '+' .. string.sub(holder, 2))
  end
end

-- Deadline of the first due key that has not been made ready. Set only if more keys are due than one call moves. Keys
-- that became ready after this time are not handed out.
local behind

-- Ends the folding of adds into the retries of keys.
local function stopFolding(...)
  if hasFolding then redis.call('SREM', q.folding, ...) end
end

-- Makes due keys ready. The place of each key is its deadline, as if the key had been made ready on time.
local function makeDueReady()
  local due = redis.call('ZRANGE', q.delayed, '-inf', now, 'BYSCORE', 'LIMIT', 0, BATCH, 'WITHSCORES')
  if #due == 0 then return end
  local keys = {}
  for i = 1, #due, 2 do keys[#keys + 1] = due[i] end
  redis.call('ZREMRANGEBYRANK', q.delayed, 0, #keys - 1)
  stopFolding(unpack(keys))
  local held = redis.call('HMGET', q.holders, unpack(keys))
  for i, key in ipairs(keys) do come(key, due[2 * i], held[i]) end
  local next = #keys == BATCH and
    redis.call('ZRANGE', q.delayed, '-inf', now, 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')[2]
  behind = next and tonumber(next)
end

-- Makes a due key ready if \`makeDueReady\` has not moved it. Must run before the key is changed in any other way.
local function promoteKey(key)
  local due = behind and redis.call('ZSCORE', q.delayed, key)
  if not due or tonumber(due) > now then return end
  redis.call('ZREM', q.delayed, key)
  stopFolding(key)
  come(key, due, redis.call('HGET', q.holders, key))
end

-- Returns the first time from \`due\` on that is not the deadline of any key. Uses a binary search, because many keys
-- may be added with the same deadline. Skips times that this script knows to be taken.
local takenFrom, takenTo = 0, -1
local function firstFree(due)
  local from = due
  if due >= takenFrom and due <= takenTo then from, due = takenFrom, takenTo + 1 end
  local function areTaken(count)
    return redis.call('ZCOUNT', q.delayed, due, due + count - 1) >= count
  end
  local taken, count = 0, 1
  while areTaken(count) do taken, count = count, count * 2 end
  while count - taken > 1 do
    local middle = math.floor((taken + count) / 2)
    if areTaken(middle) then taken = middle else count = middle end
  end
  takenFrom, takenTo = from, due + taken
  return takenTo
end

-- Delays a key until \`due\`. A key that is already delayed keeps the earlier deadline. No two keys get the same
-- deadline, because the server would sort them by name.
local function delayUntil(key, due)
  due = math.min(due, FOREVER)
  local current = redis.call('ZSCORE', q.delayed, key)
  if current and tonumber(current) <= due then return end
  if due < FOREVER then due = math.min(firstFree(due), FOREVER) end
  redis.call('ZADD', q.delayed, due, key)
  if redis.call('EXISTS', q.idle) == 1 and redis.call('ZRANGE', q.delayed, 0, 0)[1] == key then watchDue() end
end

-- Adds a key now. The key becomes ready, or is marked as added again. With "replaces", its delay is canceled. With
-- "folds", nothing changes if the key is delayed because its attempt failed.
local function addNow(key, replaces, folds)
  promoteKey(key)
  if folds and hasFolding and redis.call('SISMEMBER', q.folding, key) == 1 then return end
  come(key, tick(), redis.call('HGET', q.holders, key))
  if replaces and redis.call('ZREM', q.delayed, key) == 1 then stopFolding(key) end
end

-- Adds a key after a delay in microseconds. With "replaces", a key that is ready or marked as added again is not
-- delayed.
local function addAfter(key, delay, replaces, folds)
  promoteKey(key)
  if delay > 0 and replaces then
    local holder = redis.call('HGET', q.holders, key)
    if isReady(key) or (holder and string.sub(holder, 1, 1) == '+') then delay = 0 end
  end
  if delay <= 0 then return addNow(key, replaces, folds) end
  delayUntil(key, tick() + delay)
end

-- Drops the payload of a key that is neither ready nor processing, unless the key is delayed.
local function dropItem(key)
  if redis.call('EXISTS', q.items) == 1 and not redis.call('ZSCORE', q.delayed, key) then
    redis.call('HDEL', q.items, key)
  end
end

-- Returns the place for a key that was handed out with \`token\` and is returned. The place is before all keys that
-- were never handed out.
local function placeBefore(token)
  return token - 2^53
end

-- Removes the holder of a key that is finished or handed back. \`hasStalled\` is true if the key may be in the owner's
-- set of stalled keys.
local function letGo(key, owner, hasStalled)
  redis.call('HDEL', q.holders, key)
  redis.call('SREM', q.held_by .. owner, key)
  if hasStalled then redis.call('SREM', q.stalled_by .. owner, key) end
end

-- Hands back a key that was not worked on. The key returns to its earlier place, before all keys that were never handed
-- out.
local function putBack(key, token, owner)
  letGo(key, owner, true)
  makeReady(key, placeBefore(token))
end

local function giveUp(key, reason, why)
  redis.call('HINCRBY', q.meta, 'givenUp', 1)
  redis.call('HINCRBY', q.meta, 'givenUp:' .. why, 1)
  redis.call('HSET', q.stalls, key, 'x' .. (redis.call('HGET', q.stalls, key) or '0'))
  redis.call('ZADD', q.given_up, now, key)
  redis.call('HSET', q.reasons, key, cjson.encode({ reason, redis.call('HGET', q.items, key) or cjson.null, why }))
  if redis.call('ZCARD', q.given_up) > KEPT then
    local oldest = redis.call('ZPOPMIN', q.given_up)[1]
    redis.call('HDEL', q.reasons, oldest)
    redis.call('HDEL', q.stalls, oldest)
  end
end
`;function i({retry:t="always",adds:e=!1,prelude:s=P,functions:a="",args:r,rows:l,reply:o,body:k}){let m=Object.entries(r),y=Object.entries(l??{}),p=t==="marked",g=m.length+1,D=p?"#ARGV - 1":"#ARGV",x=h=>`for row = ${g}, ${D}, ${y.length} do
  ${W(y.map(([_,R],A)=>[_,R.readInLua(`ARGV[row + ${A}]`)]))}
  ${h}
end`,I=[W(m.map(([h,_],R)=>[h,_.readInLua(`ARGV[${R+1}]`)])),p?"local resent = ARGV[#ARGV] == '1'":"",o.begin??""].join(`
`),v=h=>typeof k=="string"?k:k(h);ue(v(h=>h),[...[...m,...y].map(([h])=>q(h)),...o.uses??[]]);let N=`${a}
${I}
${v(x)}
${o.end??""}`;return{retry:t,lua:h=>`#!lua${e?"":" flags=allow-oom"}
${s(h)}
${N}`,write(h,...[_=[]]){let R=[];for(let[A,T]of m)R.push(T.write(h[A]));for(let A of _)for(let T=0;T<y.length;T++)R.push(y[T][1].write(A[y[T][0]]));return R},read:h=>o.read(h)}}function ue(t,e){for(let s of e)if(!new RegExp(`${s.startsWith(".")?"\\":"\\b"}${s}\\b`).test(t))throw new TypeError(`Cannot declare script: its Lua does not use '${s}'`)}function W(t){return t.length===0?"":`local ${t.map(([e])=>q(e)).join(", ")} = ${t.map(([,e])=>e).join(", ")}`}var j={delayMs:f,replaces:c,folds:c},X=i({adds:!0,args:j,rows:{key:n},reply:S,body:t=>`
makeDueReady()
${t("addAfter(key, delayUs, replaces, folds)")}
wakeForReady()
`}),K=i({adds:!0,args:j,rows:{key:n,payload:n},reply:S,body:t=>`
makeDueReady()
if not hasPayloads then redis.call('HSET', q.meta, 'payloads', 1) end
${t(`
  redis.call('HSET', q.items, key, payload)
  addAfter(key, delayUs, replaces, folds)`)}
wakeForReady()
`});var w=`
-- Removes the error and the "failing" entry of a key.
local function drop_with_failures(key)
  redis.call('HDEL', prefix .. 'errors', key)
  redis.call('ZREM', prefix .. 'failing', key)
end

local function make_limiters()
  local call = redis.call
  local NEVER = 9223372036854.775808 -- ms: 2^63 ns, as in memory
  local FAR = 9e15 -- \xB5s: the year 2255
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

  local function limiter_requeues(plan, key)
    local failures, passing = failures_in(call('HGET', failures_key, key))
    local function ask(node)
      local kind = node[1]
      if kind == 'bucket' then return 0 end
      if kind == 'exponential' or kind == 'fast-slow' or kind == 'steps' or kind == 'given' then
        return counted(node[2], failures, passing)
      end
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
      return draws[drawn] or 0
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
      if kind == 'max-of' then
        local longest = 0
        for i = 2, #node do longest = math.max(longest, ask(node[i], groups)) end
        return longest
      elseif kind == 'bucket' then
        return bucket_delay(node[2] .. groups, node[3], node[4])
      elseif kind == 'max-wait' then
        return math.min(ask(node[2], groups), node[3])
      elseif kind == 'jitter' then
        local random = draw()
        return ask(node[2], groups) * (1 - node[3] * random)
      elseif kind == 'per-group' then
        local at = string.find(key, node[2], 1, true)
        local group = at and string.sub(key, 1, at - 1) or key
        return ask(node[3], groups .. '/' .. #group .. ':' .. group)
      elseif kind == 'named' then
        return ask(node[2], '') -- one limiter for all groups
      end
      local counting = node[2]
      local count = count_of(counting)
      local delay
      if kind == 'exponential' then delay = math.min(node[3] * 2 ^ math.min(count - 1, 1023), node[4])
      elseif kind == 'fast-slow' then delay = count <= node[5] and node[3] or node[4]
      elseif kind == 'steps' then delay = node[3][math.min(count, #node[3])]
      else delay = draw() end
      if counting ~= 0 and counting[1] > 0 then
        local i = counting[1]
        passing[2 * i - 1] = count
        passing[2 * i] = math.min(FAR, now + (delay + counting[2]) * 1000)
      end
      return delay
    end

    local delay = ask(plan[1], '')
    if failures == 0 then call('HDEL', errors_key, key) end -- left over from forgotten or expired failures
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
  for first = 1, #keys, 1000 do -- the number of arguments per call is limited
    local stored = redis.call('HMGET', prefix .. 'failures', unpack(keys, first, math.min(first + 999, #keys)))
    for i = 1, #stored do
      local count, due = tonumber(stored[i] or 0), nil
      if not count then
        local _
        count, _, due = limiters().failures_in(stored[i])
        has_due = has_due or due ~= nil
      end
      failures[first + i - 1] = count
      early[first + i - 1] = due and now < due and 1 or 0
    end
  end
  return failures, has_due and early or nil
end
`;var Y=i({retry:"never",adds:!0,functions:w,args:{key:n,payload:u(n),isNewest:c,replaces:c,folds:c,plan:n,given:n,minDelayMs:f},reply:u(d),body:`
makeDueReady()
local delay, failures = limiters().when(cjson.decode(plan), key, given, now, minDelayUs)
if not delay then return reply(failures) end
if payload then
  redis.call(isNewest and 'HSET' or 'HSETNX', q.items, key, payload)
  if not hasPayloads then redis.call('HSET', q.meta, 'payloads', 1) end
end
addAfter(key, math.max(math.floor(delay * 1000 + 0.5), minDelayUs), replaces, folds)
wakeForReady()
return reply(false)
`});var V=i({args:{key:n},reply:c,body:`
makeDueReady()
local due = redis.call('ZSCORE', q.delayed, key)
if not due or tonumber(due) <= now then return reply(0) end
redis.call('ZREM', q.delayed, key)
stopFolding(key)
if not isReady(key) and redis.call('HEXISTS', q.holders, key) == 0 then dropItem(key) end
return reply(1)
`});var M={ready:d,delayed:d,processing:d,failing:d,givenUp:d,oldestReadyMs:f},L=`
local due = behind and redis.call('ZCOUNT', q.delayed, '-inf', now) or 0
local ready = redis.call('ZCARD', q.ready) + redis.call('ZCARD', q.stalled) + redis.call('ZCARD', q.suspects) + due
local delayed = redis.call('ZCARD', q.delayed) - due
local processing = redis.call('HLEN', q.holders)
local failing = redis.call('HLEN', prefix .. 'failures')
local givenUp = redis.call('ZCARD', q.given_up)

-- Keys that were handed out and returned have negative places, before all keys that were never handed out. So the first
-- key of each kind is checked. A returned key is treated as ready since its hand-out.
local oldest = behind or now
local function look(line)
  local first = tonumber(redis.call('ZRANGE', line, 0, 0, 'WITHSCORES')[2])
  if first and first < 0 then
    oldest = math.min(oldest, first + 2^53)
    first = tonumber(redis.call('ZRANGE', line, 0, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')[2])
  end
  if first then oldest = math.min(oldest, first) end
end
for _, line in ipairs({ q.ready, q.stalled, q.suspects }) do look(line) end
local oldestReadyUs = now - oldest
`,z=i({args:{},reply:b(M),body:`
makeDueReady()
${L}
`});var Q=i({args:{},reply:u(n),body:`
local info = redis.pcall('INFO', 'memory')
return type(info) == 'string' and string.match(info, 'maxmemory_policy:([%w-]+)') or false
`});var J=i({functions:w,args:{key:n},reply:S,body:`
limiter_forget(key)
stopFolding(key)
`});var ee=i({args:{process:n,owner:n},reply:c,body:`
if stopIdling(process) then watchDue() end
if dutyOwner == owner then redis.call('HDEL', q.meta, 'duty') end
local keys = redis.call('SRANDMEMBER', q.held_by .. owner, BATCH)
for _, key in ipairs(keys) do
  local _, token = split(redis.call('HGET', q.holders, key))
  putBack(key, token, owner)
end
wakeForReady()
if redis.call('EXISTS', q.held_by .. owner) == 1 then return reply(1) end
redis.call('ZREM', q.owners, owner)
return reply(0)
`});var te=i({functions:w,args:{key:n,plan:n},reply:d,body:`
return reply(limiters().requeues(cjson.decode(plan), key))
`});var ne=i({args:{},reply:d,body:`
redis.call('HSETNX', q.meta, 'paused', whole(now - offset))
return reply(redis.call('HINCRBY', q.meta, 'pauses', 1))
`});var ae=i({args:{key:n},reply:c,body:`
local due = redis.call('ZSCORE', q.delayed, key)
if not due or tonumber(due) <= now then return reply(0) end
redis.call('ZREM', q.delayed, key)
stopFolding(key)
come(key, tick(), redis.call('HGET', q.holders, key))
wakeForReady()
return reply(1)
`});var re=i({args:{owner:n,cursor:n,final:u(d)},rows:{token:n},reply:b({cursor:n,final:d,seen:H(n)}),body:t=>`
final = final or now
local known = {}
${t("known[token] = true")}
local seen = {}
local page = redis.call('SSCAN', q.held_by .. owner, cursor, 'COUNT', BATCH)
local holders = #page[2] > 0 and redis.call('HMGET', q.holders, unpack(page[2])) or {}
for i, key in ipairs(page[2]) do
  local _, token = split(holders[i])
  if known[token] then
    seen[#seen + 1] = token
  elseif tonumber(token) <= final then
    putBack(key, token, owner)
  end
end
wakeForReady()
cursor = page[1]
`});var se=i({args:{owner:n,leaseMs:f},reply:c,body:`
hear(leaseUs)
if not redis.call('ZSCORE', q.owners, owner) then return reply(0) end
redis.call('ZADD', q.owners, leaseEnd(leaseUs), owner)
if dutyOwner == owner then takeDuty(owner, leaseUs, dutyStage) end
return reply(1)
`});var oe=i({args:{pause:u(d)},reply:S,body:`
local isLast = not pause or tonumber(redis.call('HGET', q.meta, 'pauses')) == pause
if isLast and redis.call('HDEL', q.meta, 'paused') == 1 then
  isPaused = false
  for _ = 1, BATCH do
    if not wake() then break end
  end
end
`});var fe={maxRetries:"givenUp:maxRetries",terminal:"givenUp:terminal",shutdown:"givenUp:shutdown",stalled:"givenUp:stalled",limiter:"givenUp:limiter"},O={key:n,payload:u(n)},le=i({functions:w,args:{limit:d,hasItems:c},reply:b({...M,isPaused:c,totals:C({handedOut:"handedOut",failed:"failed",givenUp:"givenUp"}),givenUpFor:C(fe),readyEntries:E(O),delayedEntries:E({...O,dueInMs:f}),processingEntries:E({...O,addedAgain:c}),failingEntries:E({...O,attempts:d,error:n,dueInMs:u(f)})}),body:`
makeDueReady()
${L}
local isPaused = isPaused and 1 or 0

-- Each of the three lines is sorted by the time when its keys became ready.
local found = {}
local function findReady(...)
  local part = limit > 0 and redis.call('ZRANGE', ...) or {}
  for i = 1, #part, 2 do found[#found + 1] = { part[i], tonumber(part[i + 1]) } end
end
findReady(q.ready, 0, limit - 1, 'WITHSCORES')
findReady(q.stalled, 0, limit - 1, 'WITHSCORES')
findReady(q.suspects, 0, limit - 1, 'WITHSCORES')
if due > 0 then findReady(q.delayed, '-inf', now, 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES') end
table.sort(found, function(a, b) return a[2] < b[2] end)
for i = 1, math.min(#found, limit) do readyEntries.key[i] = found[i][1] end

local later = limit > 0
  and redis.call('ZRANGE', q.delayed, '(' .. whole(now), '+inf', 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES') or {}
for i = 1, #later / 2 do
  delayedEntries.key[i] = later[2 * i - 1]
  delayedEntries.dueInUs[i] = later[2 * i] - now
end

local holders = limit > 0 and redis.call('HRANDFIELD', q.holders, limit, 'WITHVALUES') or {}
for i = 1, #holders / 2 do
  processingEntries.key[i] = holders[2 * i - 1]
  processingEntries.addedAgain[i] = string.sub(holders[2 * i], 1, 1) == '+' and 1 or 0
end

-- Lists the keys with the most failures. Skips keys that will not be retried: keys whose work ended without forgetting
-- their failures, and that are not delayed, ready or processing. Skips at most SPARE keys.
local SPARE = 1000
local forgotten = {}
local from, page = 0, math.max(limit, 100)
while #failingEntries.key < limit and from < limit + SPARE do
  local keys = redis.call('ZRANGE', prefix .. 'failing', from, from + page - 1)
  if #keys == 0 then break end
  from = from + page
  local counts = failures_of(keys)
  local errors = redis.call('HMGET', prefix .. 'errors', unpack(keys))
  local dues = redis.call('ZMSCORE', q.delayed, unpack(keys))
  for i, key in ipairs(keys) do
    local n = #failingEntries.key + 1
    if n > limit then break end
    local at = dues[i]
    if counts[i] == 0 then
      forgotten[#forgotten + 1] = key -- forgotten by a process of an older release, or expired
    elseif at or isReady(key) or redis.call('HEXISTS', q.holders, key) == 1 then
      failingEntries.key[n] = key
      failingEntries.attempts[n] = counts[i]
      failingEntries.error[n] = errors[i] or ''
      failingEntries.dueInUs[n] = at and at - now > 0 and at - now
    end
  end
end
if #forgotten > 0 then redis.call('ZREM', prefix .. 'failing', unpack(forgotten)) end

local function addPayloads(entries)
  local keys = entries.key
  for from = 1, hasItems and #keys or 0, 1000 do -- the number of arguments per call is limited
    local items = redis.call('HMGET', q.items, unpack(keys, from, math.min(from + 999, #keys)))
    for i, item in ipairs(items) do entries.payload[from + i - 1] = item end
  end
end
addPayloads(readyEntries)
addPayloads(delayedEntries)
addPayloads(processingEntries)
addPayloads(failingEntries)
`});var he=n,ye={read:t=>typeof t=="number"?t===1:Number(t[0])},ie=i({retry:"marked",functions:w,args:{process:n,owner:n,leaseMs:f,replaces:c,folds:c,hasItems:c,maxStalls:d,known:d,wanted:d,bucketId:u(n),bucketRate:u(d),bucketBurst:u(d),plan:n,wantsTimes:c},rows:{key:n,token:n,kind:he,delayMs:f,given:n,reason:n},reply:b({pauseMs:u(f),isLost:c,isAlone:c,answers:H(ye),taken:E({key:n,token:n,payload:u(n),failures:d,isEarly:u(c),readyForMs:u(f)}),givenUp:E({key:n,payload:n,attempts:d})}),body:t=>`
makeDueReady()
local CHECKS = leaseUs / 20 -- \xB5s between two checks for expired leases
hear(leaseUs)

local decoded -- the decoded plan
local failed, errors = 0, {} -- number of failed attempts; list of keys, each followed by its error

-- Adds a key again, after a delay, because its attempt failed. With "folds", later adds are folded into the retry. So
-- is an add during the attempt: the key is no longer marked as added again.
local function addFailed(key, delay)
  if not folds or delay <= 0 then return addAfter(key, delay, replaces, folds) end
  delayUntil(key, tick() + delay)
  if not hasFolding then
    redis.call('HSET', q.meta, 'folding', 1)
    hasFolding = true
  end
  redis.call('SADD', q.folding, key)
  local holder = redis.call('HGET', q.holders, key)
  redis.call('HSET', q.holders, key, '-' .. string.sub(holder, 2))
end

-- Applies an outcome to a key. If the limiter's input was computed for a wrong number of failures, changes nothing and
-- returns the correct number.
local function carryOut(kind, key, token, delay, given, reason)
  if kind == 'done' then return end
  if kind == 'handedBack' then return addNow(key, replaces, folds) end
  if kind == 'retry' or kind == 'failed' then
    decoded = decoded or cjson.decode(plan)
    local wait, failures = limiters().when(decoded, key, given, tonumber(token), delay)
    if not wait then return failures end
    if reason ~= '' then
      failed = failed + 1
      errors[#errors + 1] = key
      errors[#errors + 1] = reason
    end
    wait = math.max(math.floor(wait * 1000 + 0.5), delay)
    if kind == 'failed' then return addFailed(key, wait) end
    return addAfter(key, wait, replaces, folds)
  end
  limiter_forget(key)
  if kind == 'requeueAfter' then
    addAfter(key, delay, replaces, folds)
  elseif kind == 'givenUp' then
    failed = failed + 1
    -- A key that was added again during processing, or that is delayed, is not given up.
    local flag = split(redis.call('HGET', q.holders, key))
    if flag == '-' and not redis.call('ZSCORE', q.delayed, key) then giveUp(key, reason, given) end
  end
end

-- Returns 1 if the finish was applied, and 0 if the lease was lost. Returns a table with the number of failures if the
-- limiter's input must be computed for that number.
local function finish(key, token, kind, delay, given, reason)
  promoteKey(key)
  local holder = redis.call('HGET', q.holders, key)
  local flag, current, holdingOwner
  if holder then flag, current, holdingOwner = split(holder) end
  if current ~= token then
    -- If the call may have run before, a token that is neither current nor lost was already finished.
    return resent and not redis.call('ZSCORE', q.lost, token) and 1 or 0
  end
  local hasStalled = kind == 'handedBack' or redis.call('HDEL', q.stalls, key) == 1
  local failures = carryOut(kind, key, token, delay, given, reason)
  if failures then return { failures } end
  if kind ~= 'succeeded' and kind ~= 'done' then
    flag = split(redis.call('HGET', q.holders, key)) -- carryOut may have marked the key as added again
  end
  letGo(key, holdingOwner, hasStalled)
  if flag == '+' then
    makeReady(key, tick())
  else
    dropItem(key)
  end
  return 1
end

local answers = {}
${t("answers[#answers + 1] = finish(key, token, kind, delayUs, given, reason)")}

if failed > 0 then redis.call('HINCRBY', q.meta, 'failed', failed) end
if #errors > 0 then limiters().keep_errors(errors) end

local FEW = math.max(1, math.floor((known + wanted) / 8)) -- maximum number of keys that stalled once, per owner

-- Returns the earliest end of another owner's lease. Graces that have not been computed yet are not included.
local function firstEnd()
  local ends = redis.call('ZRANGE', q.owners, 0, 1, 'WITHSCORES')
  return tonumber(ends[1] ~= owner and ends[2] or ends[4])
end

-- Takes keys away from owners whose lease has expired. As soon as this begins, the owner has lost all of its keys.
-- Doesn't check in each turn, because leases are long.
local function expire()
  if now - checked < CHECKS then return end

  -- Handles a key whose holder was lost. The key returns to its earlier place. From the third stall on, the key was
  -- processed alone, so the key itself caused the stall.
  local function stall(key)
    local flag, token = split(redis.call('HGET', q.holders, key))
    redis.call('HDEL', q.holders, key)
    redis.call('ZADD', q.lost, token, token)
    local stalls = redis.call('HINCRBY', q.stalls, key, 1)
    if stalls < math.max(maxStalls, 3) then
      redis.call('ZADD', lineOf(stalls), placeBefore(token), key)
    elseif flag == '+' then
      redis.call('HSET', q.stalls, key, 2)
      redis.call('ZADD', q.suspects, tick(), key)
    else
      local n = #givenUp.key + 1
      givenUp.key[n] = key
      givenUp.payload[n] = redis.call('HGET', q.items, key) or ''
      givenUp.attempts[n] = stalls + failures_of({ key })[1]
      limiter_forget(key)
      giveUp(key, 'Each of its holders was lost: ' .. stalls, 'stalled')
      dropItem(key)
    end
  end

  local over = redis.call('ZRANGE', q.owners, '-inf', now, 'BYSCORE', 'LIMIT', 0, BATCH, 'WITHSCORES')
  for i = 1, #over, 2 do
    local gone = over[i]
    local ends = graceEnd(tonumber(over[i + 1]), leaseUs)
    if gone == owner then
      -- The caller is alive.
    elseif ends > now then
      redis.call('ZADD', q.owners, ends, gone)
    else
      redis.call('ZREM', q.owners, gone)
      if redis.call('SCARD', q.held_by .. gone) > 0 then redis.call('ZADD', q.expired, now, gone) end
      if gone == dutyOwner then
        redis.call('HDEL', q.meta, 'duty')
        dutyOwner = nil
      end
    end
  end
  checked = math.min(now, (firstEnd() or math.huge) - CHECKS)
  local gone = redis.call('ZRANGE', q.expired, 0, 0)[1]
  if not gone then return end
  local keys = redis.call('SPOP', q.held_by .. gone, BATCH)
  for _, key in ipairs(keys) do stall(key) end
  redis.call('DEL', q.stalled_by .. gone)
  if redis.call('SCARD', q.held_by .. gone) == 0 then redis.call('ZREM', q.expired, gone) end
  if redis.call('EXISTS', q.expired) == 1 then checked = 0 end
  redis.call('ZREMRANGEBYRANK', q.lost, 0, -KEPT - 1)
  -- Wakes several processes, because each process takes only a few of these keys.
  for _ = 1, isPaused and 0 or math.ceil(#keys / FEW) do
    if not wake() then break end
  end
end

-- Returns the \xB5s until another owner's duty to try suspects ends, or nil if no other owner has the duty.
local function dutyLeft()
  local left = dutyOwner and dutyOwner ~= owner and dutyEnd - now or 0
  return left > 0 and left or nil
end

-- Returns the suspect to take, if a suspect is next in order, and whether nothing else may be taken. One owner at a
-- time has the duty to try suspects. This owner takes no other keys. After its earlier keys are finished, it takes one
-- suspect after another. An owner without keys takes the duty from an owner that still has other keys.
local function findSuspect()
  local suspect = redis.call('ZRANGE', q.suspects, 0, 0, 'WITHSCORES')
  if #suspect == 0 then return nil, false end
  local first = tonumber(redis.call('ZRANGE', q.ready, 0, 0, 'WITHSCORES')[2] or math.huge)
  first = math.min(first, behind or math.huge)
  if first < tonumber(suspect[2]) then return nil, false end
  local holdsNothing = redis.call('SCARD', q.held_by .. owner) == 0
  if dutyLeft() and (dutyStage == '!' or not holdsNothing) then return nil, false end
  dutyOwner, dutyStage = owner, holdsNothing and '!' or ':'
  takeDuty(owner, leaseUs, dutyStage)
  return holdsNothing and suspect[1] or nil, true
end

-- Returns the number of keys in the stalled line that this owner may take.
local function fewCount()
  return math.max(0, math.min(FEW - redis.call('SCARD', q.stalled_by .. owner), redis.call('ZCARD', q.stalled)))
end

local pauseUs, isLost, isAlone, isShort = nil, 0, 0, false

local function note(delay)
  if not pauseUs or delay < pauseUs then pauseUs = math.max(delay, 0) end
end

local function readyCount()
  return behind and redis.call('ZCOUNT', q.ready, '-inf', behind) or redis.call('ZCARD', q.ready)
end

-- Returns the time that a key has been ready, computed from its place. For a returned key, this is the time since its
-- hand-out to the holder that did not finish it.
local function readyFor(place)
  local since = tonumber(place)
  return now - (since < 0 and since + 2^53 or since)
end

-- Pops up to \`count\` keys from two lines, in the order of their places: at most \`few\` stalled keys, and ready keys.
local function popMerged(few, count)
  local stalled = redis.call('ZRANGE', q.stalled, 0, math.min(few, count) - 1, 'WITHSCORES')
  local ready = redis.call('ZRANGE', q.ready, 0, count - 1, 'WITHSCORES')
  local popped, i, j = {}, 1, 1
  while #popped < 2 * count and (stalled[i] or ready[j]) do
    if not ready[j] or (stalled[i] and tonumber(stalled[i + 1]) < tonumber(ready[j + 1])) then
      popped[#popped + 1], popped[#popped + 2] = stalled[i], stalled[i + 1]
      redis.call('SADD', q.stalled_by .. owner, stalled[i])
      i = i + 2
    else
      popped[#popped + 1], popped[#popped + 2] = ready[j], ready[j + 1]
      j = j + 2
    end
  end
  if i > 1 then redis.call('ZREMRANGEBYRANK', q.stalled, 0, (i - 3) / 2) end
  if j > 1 then redis.call('ZREMRANGEBYRANK', q.ready, 0, (j - 3) / 2) end
  return popped
end

-- Takes keys and returns them.
local function take()
  if isPaused then return {} end
  local suspect, alone, few = nil, false, 0
  if redis.call('EXISTS', q.stalled, q.suspects) > 0 then
    suspect, alone = findSuspect()
    few = alone and 0 or fewCount()
  end
  isAlone = alone and 1 or 0
  -- The ready keys are counted only if a backlog of due keys or a bucket limits the number of keys to take.
  local count = suspect and 1 or alone and 0 or wanted
  if not alone and (behind or bucketId) then count = math.min(wanted, few + readyCount()) end
  if count > 0 and bucketId then
    local available, next = count, nil
    count, next = limiters().tokens_take(bucketId, bucketRate, bucketBurst, available)
    isShort = count < available
    if next then note(next) end
  end
  if count == 0 then return {} end
  if suspect then
    if wantsTimes then taken.readyForUs[1] = readyFor(redis.call('ZSCORE', q.suspects, suspect)) end
    redis.call('ZREM', q.suspects, suspect)
    return { suspect }
  end
  local popped, keys = few > 0 and popMerged(few, count) or redis.call('ZPOPMIN', q.ready, count), {}
  for i = 1, #popped, 2 do
    keys[#keys + 1] = popped[i]
    if wantsTimes then taken.readyForUs[#keys] = readyFor(popped[i + 1]) end
  end
  return keys
end

local function hold()
  local keys, tokens, holders = taken.key, taken.token, {}
  for i, key in ipairs(keys) do
    tokens[i] = whole(tick())
    holders[2 * i - 1] = key
    holders[2 * i] = '-' .. tokens[i] .. ':' .. owner
  end
  redis.call('HINCRBY', q.meta, 'handedOut', #keys)
  redis.call('HSET', q.holders, unpack(holders))
  redis.call('SADD', q.held_by .. owner, unpack(keys))
  redis.call('ZADD', q.owners, leaseEnd(leaseUs), owner)
  taken.failures, taken.isEarly = failures_of(keys)
  taken.isEarly = taken.isEarly or {}
  -- A process without keyOf must see that a payload exists. Otherwise, it would use the key as the item.
  if hasItems or hasPayloads then taken.payload = redis.call('HMGET', q.items, unpack(keys)) end
end

-- Records that a process is idle because it got fewer keys than it wanted. A message notifies the process of new work.
-- The process itself checks for changes that come with time: for expired leases, and for due keys if it is one of the
-- two processes that check for them. While other owners have keys, an idle process calls as often as they renew.
local function beIdle()
  redis.call('ZADD', q.idle, 'NX', now, process)
  if redis.call('SCARD', q.held_by .. owner) == 0 then redis.call('ZREM', q.owners, owner) end
  redis.call('HDEL', q.looks, process) -- this call has stopped the process's timer
  -- Two idle processes call three times per lease duration, so that leases of current and later owners end on time. If
  -- leases last 15 s or more, every idle process calls often enough, because it calls at least every 5 s.
  if leaseUs < 15000000 and redis.call('ZRANK', q.idle, process) < 2 then note(leaseUs / 3) end
  local look = watchDue(process)
  if look then note(look - now) end
  local first = firstEnd()
  local over = redis.call('EXISTS', q.expired) == 1 and now or first and graceEnd(first, leaseUs)
  if over then note(math.min(math.max(over, checked + CHECKS) - now, leaseUs / 3)) end
  local duty = dutyLeft()
  if duty and redis.call('EXISTS', q.suspects) == 1 then note(duty) end
end

local isIdle = false
if wanted > 0 then
  if (checked == 0 and redis.call('ZSCORE', q.expired, owner)) or
    (known > 0 and not redis.call('ZSCORE', q.owners, owner)) then
    isLost = 1
  else
    expire()
    taken.key = take()
    if #taken.key > 0 then hold() end
    isIdle = #taken.key < wanted and isAlone == 0 and not isShort
  end
end
if isIdle then
  beIdle()
else
  if stopIdling(process) then watchDue() end
  if #taken.key == wanted or isAlone == 1 then wakeForReady() end
end
`});var G={add:X,addItems:K,addRateLimited:Y,cancelDelayed:V,counts:z,evictionPolicy:Q,forget:J,leave:ee,numRequeues:te,pause:ne,promoteDelayed:ae,release:re,renew:se,resume:oe,snapshot:le,turn:ie};function me(t=B){let e=Object.entries(G).map(([s,{lua:a}])=>[s,F(a(t))]);return Object.fromEntries(e)}var U=200,Z=class{settings;limiter;measuresTimes=!1;#a;#r;#s;#t=void 0;constructor(e,s,a){this.#a=e,this.#r=s,this.settings=a,this.limiter=a.limiter,this.#s=`workqueue:{${a.name}}:meta`}channelOf(e){return`workqueue:{${this.settings.name}}:wake:${e}`}async add(e,s=0){for(let a=0;a<e.length;a+=U){let r=e.slice(a,a+U),o=this.#t?.delay===s&&this.#t.entries.length+r.length<=U?this.#t:this.#o(s);o.entries.push(...r),await o.done}}addRateLimited(e,s,a,r){let{replaces:l,folds:o,hasItems:k}=this.settings,{key:m}=e,y=k?e.payload:void 0,p=this.limiter.text;return this.#e("addRateLimited",{key:m,payload:y,isNewest:s,replaces:l,folds:o,plan:p,given:a,minDelayMs:r})}cancelDelayed(e){return this.#e("cancelDelayed",{key:e})}promoteDelayed(e){return this.#e("promoteDelayed",{key:e})}forget(e){return this.#e("forget",{key:e})}numRequeues(e){return this.#e("numRequeues",{key:e,plan:this.limiter.text})}pause(){return this.#e("pause",{})}resume(e){return this.#e("resume",{pause:e})}turn({process:e,owner:s,known:a,wanted:r,throttle:l,finishes:o}){let{leaseDuration:k,replaces:m,folds:y,hasItems:p,maxStalls:g}=this.settings,[D,x,I]=l??[],v=o.find(({plan:N})=>N!==void 0)?.plan??this.limiter.text;return this.#e("turn",{process:e,owner:s,leaseMs:k,replaces:m,folds:y,hasItems:p,maxStalls:g,known:a,wanted:r,bucketId:D,bucketRate:x===void 0?void 0:Number(x),bucketBurst:I===void 0?void 0:Number(I),plan:v,wantsTimes:this.measuresTimes},o.map(pe))}renew(e){return this.#e("renew",{owner:e,leaseMs:this.settings.leaseDuration})}async release(e,s){let a=new Set,r=s.map(o=>({token:o})),l;do{let o=await this.#e("release",{owner:e,cursor:l?.cursor??"0",final:l?.final},r);for(let k of o.seen)a.add(k);l=o}while(l.cursor!=="0");return s.filter(o=>!a.has(o))}async leave(e,s){for(;await this.#e("leave",{process:e,owner:s}););}evictionPolicy(){return this.#e("evictionPolicy",{})}counts(){return this.#e("counts",{})}snapshot(e){return this.#e("snapshot",{limit:e,hasItems:this.settings.hasItems})}#o(e){this.#n();let s,a=new Promise(l=>s=l),r=this.#t={delay:e,entries:[],done:a,send:s};return Promise.resolve().then(()=>this.#t===r&&this.#n()),r}#n(){if(this.#t===void 0)return;let{delay:e,entries:s,send:a}=this.#t;this.#t=void 0;let{replaces:r,folds:l,hasItems:o}=this.settings;a(this.#e(o?"addItems":"add",{delayMs:e,replaces:r,folds:l},s))}async#e(e,...s){this.#n();let{retry:a,write:r,read:l}=G[e],o=await this.#a.run(this.#r[e],this.#s,r(...s),{retry:a});return l(o)}};function pe({key:t,token:e,kind:s,delay:a=0,given:r="",reason:l="",why:o}){return{key:t,token:e,kind:s,delayMs:a,given:o??r,reason:l}}export{Z as Engine,me as createScripts};
