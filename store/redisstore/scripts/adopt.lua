-- Decides under which epoch the store goes on. It has no prelude.
-- KEYS[1] meta of the space {-}
-- ARGV: the epoch that is void ('' none is), a fresh epoch, schema
-- Reply: the store's epoch from now on
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch or epoch == ARGV[1] then
  epoch = ARGV[2]
  redis.call('HSET', KEYS[1], 'epoch', epoch)
end
redis.call('HSET', KEYS[1], 'schema', ARGV[3])
return epoch
