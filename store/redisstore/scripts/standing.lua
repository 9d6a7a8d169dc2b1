-- Says where keys stand: one, or those that are in the queue and not due.
-- ARGV: link ('' those that are not due), how many at most, whether those that are due, too ('1')
-- Reply, of each: link id, state, ms of the time that belongs to it (0: not known), service,
--   reason, failed attempts and abandoned claims, record
local id, most, due = arg(), tonumber(arg()), arg() == '1'
local out = reply()

local function tell(id)
  local v = call('HMGET', linkkey(id), 'x', 'p', 'b', 'u', 's', 'y', 'f', 'a', 'k', 'r')
  if not v[1] then return false end
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
  return true
end

if id ~= '' then
  if not tell(id) then return {'NOTFOUND', ''} end
  return out
end
for _, member in ipairs(call('ZRANGE', WAIT, 0, most - 1)) do tell(string.match(member, '%z.(.*)$')) end
for _, key in ipairs({LIVE, BULK}) do
  for _, id in ipairs(call('ZREVRANGEBYSCORE', key, '+inf', due and '-inf' or '(' .. NOW, 'LIMIT', 0, most)) do tell(id) end
end
return out
