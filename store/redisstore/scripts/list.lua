-- Pages through the links.
-- ARGV: cursor ('' from the start), how many at most
-- Reply: the next cursor ('' none), then records
local ids, after = page(arg(), tonumber(arg()))
local out = reply(after)
for _, id in ipairs(ids) do out[#out + 1] = call('HGET', linkkey(id), 'r') end
return out
