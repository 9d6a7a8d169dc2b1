-- Gives a named lease back if owner still has it.
-- ARGV: name, owner
local LEASES, name = BASE .. 'leases', arg()
local holder = string.match(call('HGET', LEASES, name) or '0,', '^%d+,([^,]*)')
if holder ~= arg() then return reply() end
call('HDEL', LEASES, name)
return wrote()
