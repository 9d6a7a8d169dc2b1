-- Removes a document that still holds what is given.
-- ARGV: name, data
-- Reply: 1 where it was removed
local DOCS, name = BASE .. 'docs', arg()
if call('HGET', DOCS, name) ~= arg() then return reply(0) end
call('HDEL', DOCS, name)
return wrote(1)
