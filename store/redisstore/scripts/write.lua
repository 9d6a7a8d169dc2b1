-- Runs one writing command on one key.
-- ARGV: the key's name after the hash tag, command, n arguments
local key, command = BASE .. arg(), arg()
call(command, key, unpack(args()))
return wrote()
