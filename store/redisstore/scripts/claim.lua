-- Leases the key that is due longest, live ones first, or the one that is named.
-- ARGV: ttl in ms, link ('' the next due)
-- Reply: link id, due, token, generation, attempts, then the link's fields and
--   values but its history; or '' and the ms until a key is due (0: none is)
local ttl, id = tonumber(arg()), arg()

local function due(key)
  local first = call('ZRANGE', key, 0, 0, 'WITHSCORES')
  return first[1], tonumber(first[2])
end

if id == '' then
  local live, livedue = due(LIVE)
  local bulk, bulkdue = due(BULK)
  if live and livedue <= now then
    id = live
  elseif bulk and bulkdue <= now then
    id = bulk
  else
    local next = math.min(livedue or math.huge, bulkdue or math.huge)
    return reply('', next < math.huge and next - now or 0)
  end
end

local w = work(id)
if not w then return {'NOTFOUND', ''} end
if leased(w) then return {'CONFLICT', ''} end
local since = w.place == 'q' and call('ZSCORE', queuekey(w), id) or now
if not inqueue(w) then classify(w, false) end
local token = call('HINCRBY', w.key, 't', 1)
call('HSET', w.key, 'u', now + ttl)
call('HDEL', w.key, 'n')
queue(w, now + ttl)
local out = wrote(id, since, token, w.gen, w.attempts)
local all = call('HGETALL', w.key)
for i = 1, #all, 2 do
  if all[i] ~= 'h' then
    out[#out + 1] = all[i]
    out[#out + 1] = all[i + 1]
  end
end
return out
