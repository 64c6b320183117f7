-- Reads what the order needs for the keys of the rows, because a call for several keys is fast.
if q.plan and #ARGV > ONE_ROW then
  local keys = {}
  for key in rows() do keys[#keys + 1] = key end
  q.ordered().expect(keys)
end
