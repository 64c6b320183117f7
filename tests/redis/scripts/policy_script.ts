/** Lua of each policy, as the scripts of a queue have it, on the inputs of many cases. */

import { lua } from "../../../packages/redis/scripts/lua_files.ts";
import type { MAKERS } from "./policy_cases.ts";

/** Lua functions that a policy needs, and Lua that sets `outcomes` to those of a case with `inputs`. */
interface PolicyLua {
  readonly functions: string;
  readonly run: string;
}

const POLICIES: Readonly<Record<keyof typeof MAKERS, PolicyLua>> = {
  "retry budget": {
    functions: lua("retry_budget"),
    run: /* lua */ `
  q.budget, q.budget_functions = struct.pack('>dddddddd', 0, 0, 0, 0, 0, math.huge, -math.huge, 0), nil
  q.retryBudget().change(inputs.ratio, inputs.minRate)
  for i, step in ipairs(inputs.steps) do
    now = step[1]
    local budget = q.retryBudget()
    if step[2] == 'firsts' then
      local keys = {}
      for n = 1, step[3] do keys[n] = 'first ' .. i .. ' ' .. n end
      budget.begin(keys, 0)
    elseif step[2] == 'retry' then
      budget.come('retry ' .. i, now, 0, RETRY, false)
    else
      budget.open()
    end
    local blocked = budget.count()
    outcomes[i] = { blocked, blocked > 0 and budget.opensAt() or false, blocked > 0 and budget.firstsBefore() }
    budget.save()
    q.budget, q.budget_functions = redis.call('HGET', q.meta, 'budget'), nil
  end`,
  },
  "fair turns": {
    functions: lua("lines") + lua("fair_order"),
    run: /* lua */ `
  now = inputs.now
  q.fair = nil
  local f, group, numbers = fairOrder(inputs.plan, prefix .. 'order:'), inputs.group, inputs.all
  f.virtual, f.latest, f.mean, f.count = numbers.virtual, numbers.latest, numbers.mean, numbers.count
  group.name, group.set, group.number, group.isBlocked, group.fullAt = 'group', '-', 0, false, group.full
  if inputs.hasTurn then f.turning, group.turn = 1, 7 end
  f.known.group = group
  function f.groupOf() return 'group' end
  local note = false
  if inputs.what == 'hand out' then note = f.handOut(group, inputs.value)
  elseif inputs.what == 'end' then f.done(inputs.value, inputs.token, inputs.charged)
  elseif inputs.what == 'pause' then f.pause('group', inputs.value)
  elseif inputs.what == 'resume' then f.resume('group') end
  f.settle(group, inputs.what == 'settle' and inputs.hadTurn)
  local blocked = f.listBlocked(1)[1]
  outcomes = {
    { group.start, group.turn ~= nil, group.finish, group.processing, group.ready, group.fullAt, group.mean,
      group.count },
    { group.pause or false, group.probe or false, group.set, group.number == 1e300 and 'last' or group.number },
    { f.virtual, f.latest, f.mean, f.count, note or false },
    blocked and { blocked[2], blocked[4] or false } or false,
  }`,
  },
  "priorities": {
    functions: lua("lines"),
    run: /* lua */ `
  outcomes = tonumber(makeLines(inputs.plan, prefix .. 'order:').scoreOf(inputs.place, inputs.priority))`,
  },
  "search of given-up items": {
    functions: "",
    run: /* lua */ `
  local search = inputs.search
  ${lua("search_given_up")}
  outcomes = isFound(inputs.key, { inputs.error })`,
  },
  "redrive": {
    functions: "",
    run: /* lua */ `
  local job, added = prefix .. 'redrive', 0
  function q.addNow() added = added + 1 end
  local start = inputs.times[1]
  redis.call('HSET', job, 'search', '', 'until', whole(start), 'position', '-inf', 'next', whole(start), 'redriven', 0)
  if inputs.rate then redis.call('HSET', job, 'rate', string.format('%.17g', inputs.rate)) end
  for i = 1, inputs.count do redis.call('ZADD', q.given_up, whole(start - 1000 + i), 'key ' .. i) end
  for i, time in ipairs(inputs.times) do
    now, q.redrive_at = time, time
    ${lua("redrive_some")}
    outcomes[i] = { added, q.redrive_at or false }
  end`,
  },
  "retention": {
    functions: "",
    run: /* lua */ `
  now, outcomes = inputs.now, 0
  redis.call('HSET', q.meta, 'keep', inputs.max)
  if inputs.maxAge then redis.call('HSET', q.meta, 'keepFor', inputs.maxAge) end
  for i, age in ipairs(inputs.ages) do redis.call('ZADD', q.given_up, whole(now - age), 'key ' .. i) end
  repeat
    ${lua("drop_given_up")}
    outcomes = outcomes + dropped
  until dropped == 0`,
  },
};

/** Returns a script that replies the outcomes of the cases in its argument, as JSON. */
export function policyScript(policy: keyof typeof MAKERS): string {
  const { functions, run } = POLICIES[policy]!;
  return /* lua */ `
local prefix = string.sub(KEYS[1], 1, -5)
local BATCH, KEPT, RETRY, FIRST = 200, 10000, 1, 2
local now
local function whole(number)
  return string.format('%d', number)
end
local q = { meta = KEYS[1], made = 0, ready = prefix .. 'ready', idle = prefix .. 'idle' }
for _, name in ipairs({ 'deposits', 'retries', 'stalls', 'items', 'reasons' }) do q[name] = prefix .. name end
q.due_retries, q.blocked_retries, q.given_up = prefix .. 'dueretries', prefix .. 'blockedretries', prefix .. 'givenup'
function q.makeReady() end
function q.isReady() return false end
function q.firstFree(_, number) return number end
function q.tick() return now end
function q.placeOfRetry(place) return place end
${functions}
-- Numbers are replied as text, because JSON in Lua cuts off digits.
local function exact(value)
  if type(value) == 'table' then
    local copy = {}
    for i = 1, #value do copy[i] = exact(value[i]) end
    return copy
  end
  if type(value) ~= 'number' then return value end
  return value < math.huge and '#' .. string.format('%.17g', value)
end
local all = {}
for i, inputs in ipairs(cjson.decode(ARGV[1])) do
  local outcomes = {}
  ${run}
  all[i] = exact(outcomes)
  local names = redis.call('KEYS', prefix .. '*')
  if #names > 0 then redis.call('DEL', unpack(names)) end
end
return cjson.encode(all)
`;
}
