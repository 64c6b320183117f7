limiter_forget(key)
q.stopFolding(key)
