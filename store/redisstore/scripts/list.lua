-- Pages through the links by id.
-- ARGV: cursor ('' from the start), how many at most
-- Reply: the next cursor ('' none), then records
local cursor, most = arg(), tonumber(arg())
local ids = call('ZRANGEBYLEX', LINKS, cursor == '' and '-' or '(' .. cursor, '+', 'LIMIT', 0, most + 1)
local out = reply(ids[most + 1] and ids[most] or '')
for i = 1, math.min(#ids, most) do out[#out + 1] = call('HGET', linkkey(ids[i]), 'r') end
return out
