q.reply() -- sets q.isEnding
return q.isEnding and 1 or 0
