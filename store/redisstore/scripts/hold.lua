-- Closes a name for a while; never shortens.
-- ARGV: name, ms
local HOLDS, name, till = BASE .. 'holds', arg(), now + arg()
if tonumber(call('HGET', HOLDS, name) or 0) >= till then return reply() end
call('HSET', HOLDS, name, string.format('%d', till))
return wrote()
