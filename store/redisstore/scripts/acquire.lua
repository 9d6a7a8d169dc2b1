-- Takes or extends a named lease.
-- ARGV: name, owner, ttl in ms
-- Reply: 1 where owner has it now
local LEASES, name, owner, ttl = BASE .. 'leases', arg(), arg(), arg()
local till, holder = string.match(call('HGET', LEASES, name) or '0,', '^(%d+),(.*)$')
if holder ~= owner and tonumber(till) > now then return reply(0) end
call('HSET', LEASES, name, string.format('%d,%s', now + ttl, owner))
return wrote(1)
