-- Runs one reading command on one key.
-- ARGV: the key's name after the hash tag, command, n arguments
local key, command = BASE .. arg(), arg()
return reply(call(command, key, unpack(args())))
