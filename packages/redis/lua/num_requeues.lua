return q.reply(limiters().requeues(cjson.decode(rules), key))
