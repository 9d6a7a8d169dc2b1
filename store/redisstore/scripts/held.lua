-- ARGV: n names
-- Reply: for each, ms for which it is closed
local left = {}
for i, name in ipairs(args()) do
  left[i] = math.max(0, tonumber(call('HGET', BASE .. 'holds', name) or 0) - now)
end
return reply(unpack(left))
