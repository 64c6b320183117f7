-- Revives a given-up key that is added after a delay. `makeReady` revives a key that is added now.
if redis.call('ZSCORE', q.given_up, key) then q.revive(key, redis.call('HGET', q.stalls, key)) end
