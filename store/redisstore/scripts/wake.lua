-- Makes keys due that wait for a service, live ones first, some at a time. Later changes go before
-- them, and so do live ones that waited shortly.
-- ARGV: service, how many at most, number of those woken before, keys per second (0 all at
--   once), what is shortly (see store/internal/rules)
-- Reply: how many were woken, how many waited
local service, most, before, rate = arg(), arg(), tonumber(arg()), tonumber(arg())
local shortly = tonumber(arg())
local from, to = '[' .. service .. '\0', '(' .. service .. '\1'
local total = call('ZLEXCOUNT', WAIT, from, to)
if total == 0 then return reply(0, 0) end
local members = call('ZRANGEBYLEX', WAIT, from, to, 'LIMIT', 0, most)
for i, member in ipairs(members) do
  local spread = rate > 0 and math.floor((before + i - 1) * 1000 / rate) or 0
  local w = work(string.sub(member, #service + 3))
  if w then
    local since = tonumber(string.match(call('HGET', w.key, 'y') or '', '^%d+') or 0)
    if not w.bulk and now - since < shortly then spread = 0 else classify(w, true) end
    queue(w, now + spread)
  else
    call('ZREM', WAIT, member)
  end
end
return wrote(#members, total)
