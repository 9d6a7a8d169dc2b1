-- Makes keys due that wait for a service, live ones first, some at a time. What happens from
-- now on goes before them.
-- ARGV: service, how many at most, number of those woken before, keys per second (0 all at once)
-- Reply: how many were woken, how many waited
local service, most, before, rate = arg(), arg(), tonumber(arg()), tonumber(arg())
local from, to = '[' .. service .. '\0', '(' .. service .. '\1'
local total = call('ZLEXCOUNT', WAIT, from, to)
if total == 0 then return reply(0, 0) end
local members = call('ZRANGEBYLEX', WAIT, from, to, 'LIMIT', 0, most)
for i, member in ipairs(members) do
  local spread = rate > 0 and math.floor((before + i - 1) * 1000 / rate) or 0
  local w = work(string.sub(member, #service + 3))
  if w then
    classify(w, true)
    queue(w, now + spread)
  else
    call('ZREM', WAIT, member)
  end
end
return wrote(#members, total)
