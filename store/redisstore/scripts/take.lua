-- Stands between the prelude and the scripts that lease keys.

-- nextdue returns the key that is due longest, live ones first, but not the one
-- that is named; or nil and in how many ms one is (0: none is queued).
local function nextdue(but)
  local soonest = math.huge
  for _, key in ipairs({LIVE, BULK}) do
    local first = call('ZRANGE', key, 0, 0, 'WITHSCORES')
    if first[1] and first[1] == but then first = call('ZRANGE', key, 1, 1, 'WITHSCORES') end
    if first[1] and tonumber(first[2]) <= now then return first[1] end
    soonest = math.min(soonest, tonumber(first[2]) or math.huge)
  end
  return nil, soonest < math.huge and soonest - now or 0
end

-- take leases a key and returns what a claim is made of: link id, due, token,
-- generation, attempts, then the link's fields and values but its history, and
-- its events, each as field E.
local function take(w, ttl)
  local since = w.place == 'q' and call('ZSCORE', queuekey(w), w.id) or now
  if not inqueue(w) then classify(w, false) end
  local token = call('HINCRBY', w.key, 't', 1)
  call('HSET', w.key, 'u', now + ttl)
  call('HDEL', w.key, 'n')
  queue(w, now + ttl)
  local out = wrote(w.id, since, token, w.gen, w.attempts)
  local all = call('HGETALL', w.key)
  for i = 1, #all, 2 do
    if all[i] ~= 'h' then
      out[#out + 1] = all[i]
      out[#out + 1] = all[i + 1]
    end
  end
  local events = call('LRANGE', eventkey(w.id), 0, -1)
  for i = 2, #events, 2 do
    out[#out + 1] = 'E'
    out[#out + 1] = events[i]
  end
  return out
end
