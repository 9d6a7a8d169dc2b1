-- Stores a ledger entry and its place in the order.
-- ARGV: id, order (16 characters), compressed JSON
local id, order, record = arg(), arg(), arg()
local LEDGER, BY = BASE .. 'ledger', BASE .. 'ledgerby'
local old = call('HGET', LEDGER, id)
if old then call('ZREM', BY, string.sub(old, 1, 16) .. id) end
call('ZADD', BY, 0, order .. id)
call('HSET', LEDGER, id, order .. record)
return wrote()
