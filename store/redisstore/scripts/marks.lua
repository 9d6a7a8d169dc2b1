-- Adds or replaces marks of a set.
-- ARGV: set, n ids and texts in turn
local key, list = BASE .. 'marks:' .. arg(), args()
for i = 1, #list, 2 do call('HSET', key, list[i], list[i + 1]) end
return wrote()
