-- Describes the queue.
-- Reply: live, bulk, due of bulk, failures, since when the key overdue longest is due (0: none), then service and count
local out = reply(call('ZCARD', LIVE), call('ZCARD', BULK), call('ZCOUNT', BULK, '-inf', now), call('ZCARD', PARKED), oldest())
local from = '-'
while true do
  local first = call('ZRANGEBYLEX', WAIT, from, '+', 'LIMIT', 0, 1)[1]
  if not first then return out end
  local service = string.sub(first, 1, string.find(first, '\0', 1, true) - 1)
  out[#out + 1] = service
  out[#out + 1] = call('ZLEXCOUNT', WAIT, '[' .. service .. '\0', '(' .. service .. '\1')
  from = '[' .. service .. '\1'
end
