-- Decides under which epoch the store goes on. It has no prelude.
-- KEYS[1] meta of the space {-}
-- ARGV: the epoch that is void ('' none is), a fresh epoch, schema, the schema of a store that is being loaded
-- Reply: the store's epoch from now on; '' where it is being loaded
local epoch, schema = unpack(redis.call('HMGET', KEYS[1], 'epoch', 'schema'))
if schema == ARGV[4] then return '' end
if not epoch or epoch == ARGV[1] then
  epoch = ARGV[2]
  redis.call('HSET', KEYS[1], 'epoch', epoch)
end
redis.call('HSET', KEYS[1], 'schema', ARGV[3])
return epoch
