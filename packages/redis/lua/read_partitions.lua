--#include read_division
local moves = tonumber(found[3]) or 0
local plan = found[4] and string.match(found[4], '^%d+ (.*)$')
