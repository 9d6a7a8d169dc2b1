-- Removes ledger entries that still are as they were read.
-- ARGV: how many, then of each its id and the SHA-1 of its record
-- Reply: how many were removed
local LEDGER, BY = BASE .. 'ledger', BASE .. 'ledgerby'
local dropped = 0
for _ = 1, tonumber(arg()) do
  local id, sum = arg(), arg()
  local record = call('HGET', LEDGER, id)
  if record and redis.sha1hex(record) == sum then
    call('ZREM', BY, string.sub(record, 1, 16) .. id)
    call('HDEL', LEDGER, id)
    dropped = dropped + 1
  end
end
if dropped == 0 then return reply(0) end
return wrote(dropped)
