-- Counts the queued keys, the links and the parked keys without visiting them.
-- Reply: queued keys, since when the key overdue longest is due (0: none), 1 where all
--   links are counted or 0, then the tally's kinds and numbers
local out = reply(call('ZCARD', LIVE) + call('ZCARD', BULK) + call('ZCARD', WAIT), oldest(), FORMED and 1 or 0)
for _, value in ipairs(call('HGETALL', TALLY)) do out[#out + 1] = value end
return out
