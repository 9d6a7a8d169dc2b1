-- Lists parked keys, oldest first.
-- ARGV: how many at most
-- Reply: for each: link id, parked at, record, reason, failed attempts and abandoned claims
local out = reply()
local parked = call('ZRANGE', PARKED, 0, arg() - 1, 'WITHSCORES')
for i = 1, #parked, 2 do
  local v = call('HMGET', linkkey(parked[i]), 'r', 'f', 'a', 'k')
  for _, value in ipairs({parked[i], parked[i + 1], v[1], v[2], (v[3] or 0) + (v[4] or 0)}) do out[#out + 1] = value end
end
return out
