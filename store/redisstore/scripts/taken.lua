-- ARGV: name of a budget
-- Reply: how many items it gave within the last minute, and within the last hour
local TAKEN = BASE .. 'budget:' .. arg()
local function within(length)
  local low, high = 0, call('LLEN', TAKEN)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if call('LINDEX', TAKEN, middle) + length > now then low = middle + 1 else high = middle end
  end
  return low
end
return reply(within(60000), within(3600000))
