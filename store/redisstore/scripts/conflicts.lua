-- Pages through the ledger, newest first.
-- ARGV: cursor ('' from the start), how many at most
-- Reply: the next cursor ('' none), then order + compressed JSON of each
local cursor, most = arg(), tonumber(arg())
local from = cursor == '' and '+' or '(' .. cursor
local places = call('ZREVRANGEBYLEX', BASE .. 'ledgerby', from, '-', 'LIMIT', 0, most + 1)
local out = reply(places[most + 1] and places[most] or '')
for i = 1, math.min(#places, most) do
  out[#out + 1] = call('HGET', BASE .. 'ledger', string.sub(places[i], 17))
end
return out
