-- Reads the state of the job.
local job = prefix .. 'redrive'
local state = redis.call('HMGET', job, 'search', 'rate', 'until', 'list', 'position', 'next', 'redriven')
local search, rate, until_ = state[1], tonumber(state[2]), state[3]
local list, position, next, redriven = state[4], state[5], tonumber(state[6]), tonumber(state[7])
