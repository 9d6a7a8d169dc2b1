-- Ends a load: the store may be used.
-- ARGV: schema
call('HSET', META, 'schema', arg())
return wrote()
