-- Lists the keys that are in the queue and not due.
-- ARGV: how many at most of those that wait, of the live ones and of the bulk ones; whether
--   those that are due, too ('1')
-- Reply: link ids
local most, due = tonumber(arg()), arg() == '1'
local out = reply()
for _, member in ipairs(call('ZRANGE', WAIT, 0, most - 1)) do out[#out + 1] = string.match(member, '%z.(.*)$') end
for _, key in ipairs({LIVE, BULK}) do
  for _, id in ipairs(call('ZREVRANGEBYSCORE', key, '+inf', due and '-inf' or '(' .. NOW, 'LIMIT', 0, most)) do out[#out + 1] = id end
end
return out
