-- Forgets sessions.
-- ARGV: n sessions
for _, id in ipairs(args()) do call('ZREM', BASE .. 'sessions', id, '!' .. id) end
return reply()
