-- Returns the queue state of keys.
-- ARGV: n links
-- Reply, for each existing link: link id, state, ms of the state's time (0: unknown), service,
--   reason, failed attempts and abandoned claims, record
local out = reply()

local function tell(id)
  local v = call('HMGET', linkkey(id), 'x', 'p', 'b', 'u', 's', 'y', 'f', 'a', 'k', 'r')
  if not v[1] then return end
  local state, at, why = 'resting', 0, ''
  local noted, reason = string.match(v[6] or '', '^(%d+),(.*)$')
  if v[2] == 'q' then
    at = call('ZSCORE', v[3] == '1' and BULK or LIVE, id) or 0
    if tonumber(v[4] or 0) > now then
      state = 'worked'
    elseif tonumber(at) <= now then
      state = 'due'
    else
      state = 'later'
      if tonumber(noted) == tonumber(at) then why = reason end
    end
  elseif v[2] == 'w' then
    state, at, why = 'waiting', noted or 0, reason or ''
  elseif v[2] == 'f' then
    state, at, why = 'parked', call('ZSCORE', PARKED, id) or 0, v[7]
  end
  local of = state == 'waiting' and v[5] or ''
  for _, value in ipairs({id, state, at, of, why or '', (v[8] or 0) + (v[9] or 0), v[10] or ''}) do out[#out + 1] = value end
end

for _, id in ipairs(args()) do tell(id) end
return out
