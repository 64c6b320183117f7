-- Forgets a given-up key.
redis.call('ZREM', q.given_up, key)
redis.call('HDEL', q.reasons, key)
redis.call('HDEL', q.stalls, key)
discarded = discarded + 1
