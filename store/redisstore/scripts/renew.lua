-- Gives a project's copy of the epoch the form that programs of this schema compare, so
-- that earlier ones stop. It has no prelude.
-- KEYS[1] the project's meta
-- ARGV: the copy as earlier programs have it, as it is now
if redis.call('HGET', KEYS[1], 'epoch') == ARGV[1] then redis.call('HSET', KEYS[1], 'epoch', ARGV[2]) end
return 1
