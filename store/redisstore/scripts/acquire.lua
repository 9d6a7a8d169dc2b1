-- Takes or extends a named lease.
-- ARGV: name, owner, ttl in ms, the session that the lease ends with; '': it ends with none
-- Reply: 1 where owner has it now
local LEASES, name, owner, ttl, session = BASE .. 'leases', arg(), arg(), arg(), arg()
local till, holder, of = string.match(call('HGET', LEASES, name) or '0,', '^(%d+),([^,]*),?(.*)$')
local function fell()
  local last = of ~= '' and (call('ZSCORE', BASE .. 'sessions', of) or 0)
  return last and tonumber(last) <= now
end
if holder ~= owner and tonumber(till) > now and not fell() then return reply(0) end
call('HSET', LEASES, name, string.format('%d,%s', now + ttl, owner) .. (session ~= '' and ',' .. session or ''))
return wrote(1)
