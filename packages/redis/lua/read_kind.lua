-- Sets `q.hasGroups` to whether the discipline of `plan`, which is JSON, has groups. Refuses a discipline that this
-- release doesn't know: a process of a later release may have stored it.
do
  local kind = string.match(plan, '^%["([^"]*)')
  q.hasGroups = kind == 'fair'
  local within = q.hasGroups and string.match(plan, '%["([^"]*)"[^%[]*$') or kind
  if not (within == 'fifo' or within == 'aging' or within == 'strict') then
    error({ err = "WQFORMAT Redis doesn't know the discipline '" .. tostring(within) .. "' in this release" })
  end
end
