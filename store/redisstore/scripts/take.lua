-- Comes between the prelude and the scripts that lease keys.

-- open is the number of claims of a key without a Finish. Those of another epoch were given up
-- with it and do not count.
local function open(c)
  local n, epoch = string.match(c or '', '^(%d+),(.*)$')
  return epoch == ARGV[1] and tonumber(n) or 0
end

-- whole reads a link as work does, and all its fields by name and as HGETALL
-- gave them: one command costs less than several, though it brings more.
local function whole(id)
  local key, f = linkkey(id), {}
  local all = call('HGETALL', key)
  for i = 1, #all, 2 do f[all[i]] = all[i + 1] end
  if not f.x then return nil end
  return {
    id = id, key = key, refs = f.x, gen = tonumber(f.g or 0), token = tonumber(f.t or 0),
    till = tonumber(f.u or 0), again = tonumber(f.n), place = f.p or '', bulk = f.b == '1',
    service = f.s, own = f.o, why = f.y, attempts = tonumber(f.a or 0), abandoned = tonumber(f.k or 0), open = open(f.c),
  }, f, all
end

-- nextdue returns the key that is due longest and since when, live ones first,
-- but not the one that is named; or nil and in how many ms one is (0: none is
-- queued).
local function nextdue(but)
  local soonest = math.huge
  for _, key in ipairs({LIVE, BULK}) do
    local first = call('ZRANGE', key, 0, 0, 'WITHSCORES')
    if first[1] and first[1] == but then first = call('ZRANGE', key, 1, 1, 'WITHSCORES') end
    if first[1] and tonumber(first[2]) <= now then return first[1], first[2] end
    soonest = math.min(soonest, tonumber(first[2]) or math.huge)
  end
  return nil, soonest < math.huge and soonest - now or 0
end

-- nextwhole returns the fields of the key that nextdue names, and since when it is due; or nil
-- and in how many ms one is. It removes queue entries of missing links.
local function nextwhole(but)
  while true do
    local id, since = nextdue(but)
    if not id then return nil, nil, since end
    local w, _, all = whole(id)
    if w then return w, all, since end
    for _, key in ipairs({LIVE, BULK}) do call('ZREM', key, id) end
  end
end

-- take leases a key for a session (with # and the number of the sending; '' none), of which all is what whole gave, and returns what a claim is
-- made of: link id, since when it was due, token, generation, attempts, claims that
-- were abandoned, 1 where the last one was or 0, then the link's fields and values but its history, and its events, each as field E.
local function take(w, all, since, ttl, session)
  local till = string.format('%d', now + ttl)
  if not inqueue(w) then classify(w, false) end
  if w.place ~= 'q' then queue(w, till) else call('ZADD', queuekey(w), till, w.id) end
  local token = string.format('%d', w.token + 1)
  call('HSET', w.key, 't', token, 'u', till, 'c', w.open + 1 .. ',' .. ARGV[1], 'm', token .. ',' .. session)
  if w.again or w.why then call('HDEL', w.key, 'n', 'y') end
  local out = wrote(w.id, since, w.token + 1, w.gen, w.attempts, w.abandoned + w.open, w.open > 0 and 1 or 0)
  for i = 1, #all, 2 do
    if all[i] ~= 'h' or #unframe(all[i + 1]) >= 8 then -- Finish makes one frame of so many
      out[#out + 1] = all[i]
      out[#out + 1] = all[i + 1]
    end
  end
  local function give(list)
    local events = call('LRANGE', list, 0, -1)
    for i = 2, #events, 2 do
      out[#out + 1] = 'E'
      out[#out + 1] = events[i]
    end
  end
  give(eventkey(w.id))
  if w.own then give(ownkey(w.id)) end
  return out
end
