-- Ends, in pages, the leases of sessions that are over, or of single sendings of their claims.
-- Whatever others add, move and remove between two pages, ZSCAN shows each key that is in the
-- queue throughout.
-- ARGV: 'bulk' or 'live', a cursor ('' from the start), about how many to look at, n sessions
-- Reply: the next cursor ('' none), how many keys are due now that were leased
local key, from, most, over = BASE .. arg(), arg(), arg(), {}
for _, id in ipairs(args()) do over[id] = true end

-- ends reports whether a claim of one of the sessions leases the key. A program without
-- sessions leaves an old m there, with the token of an earlier claim.
local function ends(w, held)
  local token, session = string.match(held or '', '^(%d+),(.+)$')
  return w and leased(w) and tonumber(token) == w.token and (over[session] or over[string.match(session, '^[^#]*')])
end

local page, keys = call('ZSCAN', key, from == '' and 0 or from, 'COUNT', most), 0
for i = 1, #page[2], 2 do
  if tonumber(page[2][i + 1]) > now then -- a leased key stands at its lease's end
    local w, held = work(page[2][i], 'm')
    if ends(w, held) then
      call('HSET', w.key, 'u', NOW)
      call('HDEL', w.key, 'm')
      queue(w, NOW)
      keys = keys + 1
    end
  end
end
local cursor = page[1] ~= '0' and page[1] or ''
if keys == 0 then return reply(cursor, 0) end
return wrote(cursor, keys)
