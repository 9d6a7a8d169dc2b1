-- Says that a session is alive, and names those that fell, each to one process at a time.
-- ARGV: session, ms until it falls, how many to name at most
-- Reply: those that fell
-- A session that was named is kept as FALLEN and its id until its leases are ended.
local SESSIONS, FALLEN = BASE .. 'sessions', '!'
local id, till, most = arg(), now + arg(), arg()
local own = call('ZSCORE', SESSIONS, id)
if own and tonumber(own) <= now or call('ZSCORE', SESSIONS, FALLEN .. id) then return {'LEASE', ''} end
local out = reply()
for _, member in ipairs(call('ZRANGEBYSCORE', SESSIONS, '-inf', NOW, 'LIMIT', 0, most)) do
  local fell = string.match(member, '^!(.*)$') or member
  call('ZREM', SESSIONS, member)
  call('ZADD', SESSIONS, till, FALLEN .. fell)
  out[#out + 1] = fell
end
call('ZADD', SESSIONS, till, id)
return out
