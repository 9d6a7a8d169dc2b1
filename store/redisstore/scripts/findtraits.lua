-- Finds the links that have one of some traits.
-- ARGV: how many at most, n traits
-- Reply: link ids, those of the first trait first
local most, out, seen = tonumber(arg()), reply(), {}
if not FORMED then return {'UNINDEXED', ''} end
for _, trait in ipairs(args()) do
  for _, member in ipairs(call('ZRANGEBYLEX', traitkey(trait), '[' .. trait, '(' .. trait .. '\255', 'LIMIT', 0, most)) do
    local id = string.sub(member, #trait + 1)
    if not seen[id] and #out < most + 2 then out[#out + 1] = id end
    seen[id] = true
  end
end
return out
