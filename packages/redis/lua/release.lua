final = final or now
local known = {}
for token in rows() do known[token] = true end
local seen = {}
local page = redis.call('SSCAN', q.held_by .. owner, cursor, 'COUNT', BATCH)
local holders = #page[2] > 0 and redis.call('HMGET', q.holders, unpack(page[2])) or {}
for i, key in ipairs(page[2]) do
  local _, token = q.split(holders[i])
  if token and known[token] then
    seen[#seen + 1] = token
  elseif token and tonumber(token) <= final then
    q.putBack(key, holders[i])
  end
end
q.wakeForReady()
cursor = page[1]
