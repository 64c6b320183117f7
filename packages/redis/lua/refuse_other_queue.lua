-- Refuses a queue that is stored in another `format` before anything is changed.
return redis.error_reply('WQFORMAT Cannot use queue ' .. string.match(prefix, '{(.*)}') ..
  ': the server has it in format ' .. format .. ', and this release uses format ' .. FORMAT ..
  '. Let the processes of the release that stored it finish its items, then delete its keys (' .. prefix ..
  '*), or use another name')
