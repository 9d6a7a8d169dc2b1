-- Observations, in their order: each finds or makes its link, stores what was
-- seen, makes it due.
-- ARGV: queue limit, outdated before, sweep, event bound, n observations, their n
--   deliveries ('' none), and of each observation: a head, the data ('' no
--   snapshot), the event where the head says so, the link to make where the head
--   names one (its class and traits, joined by newlines, behind their length in two
--   bytes, then its record), further refs, refs of the link to make
-- A further ref stands behind its shard and a space.
-- A head is the delay in ms, 1 bulk + 2 event + 4 link to make + 8 own event, n further refs, n refs of
--   the link to make; then short texts, each behind its length in two bytes: marker's link
--   ('' none), item, at, length, comma and digest, id of the link to make, shard of the
--   first ref ('' none), first ref
-- Reply, of each: link id ('' dropped) and the sum of 1 created, 2 duplicate, 4 stored, 8 full
local limit, outdated, sweep, events, n = tonumber(arg()), now - arg(), arg(), tonumber(arg()), tonumber(arg())
local SEEN = BASE .. 'seen'
local HEAD = '>dBHH' .. string.rep('Hc0', 7)
local deliveries = argi
argi = argi + n
local seenat = call('ZMSCORE', SEEN, unpack(ARGV, deliveries + 1, deliveries + n))

local delivery, delay, bulk, own, marker, item, at, digest, data, event, newid, record
local shard, ref, nrefs, nnew, refs -- refs: behind which argument the further refs stand
local function take()
  local flags
  delay, flags, nrefs, nnew, marker, item, at, digest, newid, shard, ref = struct.unpack(HEAD, arg())
  bulk, own = flags % 2 == 1, flags >= 8
  data, event, record = arg(), flags % 4 >= 2 and arg(), flags % 8 >= 4 and arg()
  refs = argi
  argi = argi + nrefs + nnew
end

local function exists(id) return id ~= '' and call('HEXISTS', linkkey(id), 'x') == 1 end
local function resolve()
  local id = shard ~= '' and call('HGET', REFS .. shard, ref)
  for i = refs + 1, refs + nrefs do
    if id then break end
    local shard, ref = string.match(ARGV[i], '^(%d+) (.*)')
    id = call('HGET', REFS .. shard, ref)
  end
  if id then return id end
  if exists(marker) then return marker end
  for i = refs + nrefs + 1, argi do
    id = owner(ARGV[i])
    if id then return id end
  end
  return exists(newid) and newid or ''
end

-- forget removes the observation's refs that lead to a missing link.
local function forget(id)
  local function drop(key, ref) if call('HGET', key, ref) == id then call('HDEL', key, ref) end end
  if shard ~= '' then drop(REFS .. shard, ref) end
  for i = refs + 1, refs + nrefs do
    local shard, ref = string.match(ARGV[i], '^(%d+) (.*)')
    drop(REFS .. shard, ref)
  end
  for i = refs + nrefs + 1, argi do drop(refkey(ARGV[i]), ARGV[i]) end
  delist(id)
end

-- slot makes the head of the snapshot's slot. It returns nil where the slot has a newer snapshot,
-- or the same one: then same is true.
local function slot(gen, old)
  local seen, ambiguous = NOW, '0'
  if old then
    local oldat = string.sub(old, 1, 16)
    if at < oldat then return nil, false end
    local first, body = string.match(old, ',(%d+),()', 18)
    if at == oldat then
      if string.sub(old, body, body + #digest - 1) == digest then return nil, true end
      ambiguous = '1'
    end
    seen = first
  end
  return at .. ambiguous .. gen .. ',' .. seen .. ',' .. digest
end

-- isnews reports whether the observation has news for the key, and whether its snapshot is the
-- one in the slot.
local function isnews(old)
  if item == '' or not old then return true, false end
  local head, same = slot(0, old)
  return event or head ~= nil, same
end

-- note stores the observation with the key's new generation and place, in one write. It reports
-- whether the slot holds the snapshot.
local function note(id, key, gen, place, old)
  gen = string.format('%d', gen)
  local head, same
  if item ~= '' then head, same = slot(gen, old) end
  if head then
    call('HSET', key, 'p', place, 'g', gen, 'i:' .. item, head, 'd:' .. item, data)
  else
    call('HSET', key, 'p', place, 'g', gen)
  end
  if event then
    local list = own and ownkey(id) or eventkey(id)
    if own then call('HSET', key, 'o', '1') end
    local length = call('RPUSH', list, gen, event)
    if length > 2 * events then call('LTRIM', list, length - 2 * events, -1) end
  end
  return head ~= nil or same
end

-- Deliveries to remember at the end, as the arguments of ZADD.
local remembered, doubled = {}, {}
local function delivered(i)
  delivery = ARGV[deliveries + i]
  return delivery ~= '' and (doubled[delivery] or seenat[i] and tonumber(seenat[i]) > outdated)
end
local function remember()
  if delivery == '' then return end
  doubled[delivery] = true
  remembered[#remembered + 1] = NOW
  remembered[#remembered + 1] = delivery
end

-- The number of queued keys, with those that dues will add.
local queued = limit > 0 and call('ZCARD', LIVE) + call('ZCARD', BULK) + call('ZCARD', WAIT) or 0
local dues = {} -- of live keys, as the arguments of ZADD

-- usual handles the common case: a live key that is free and due, or becomes due, is added to
-- dues. It returns false in any other case.
local function usual(id)
  if bulk then return false end
  local key = linkkey(id)
  local v = call('HMGET', key, 'g', 'u', 'p', 'b', 'i:' .. item)
  local gen, till, place = v[1], v[2], v[3]
  if not gen or v[4] or place and place ~= 'q' or till and tonumber(till) > now then return false end
  if not place then
    if limit > 0 and queued >= limit then return false end
    queued = queued + 1
  end
  dues[#dues + 1] = delay == 0 and NOW or now + delay
  dues[#dues + 1] = id
  return true, note(id, key, gen + 1, 'q', v[5])
end

local out, wrotesome = {'OK', 0}, false
local function answer(id, what) out[#out + 1], out[#out + 2] = id, what end

local function observe(i)
  local id = resolve()
  local duplicate = delivered(i)
  local what = duplicate and 2 or 0
  if id ~= '' and not duplicate then
    local done, holds = usual(id)
    if done then
      remember()
      wrotesome = true
      return answer(id, holds and 4 or 0)
    end
  end
  while id ~= '' and not exists(id) do
    forget(id)
    wrotesome = true
    id = resolve()
  end
  local create = id == '' and newid ~= '' and not duplicate
  if create then id = newid end
  if id == '' then return answer('', what) end
  local w, old
  if not create then w, old = work(id, 'i:' .. item) end
  local entering = not (w and inqueue(w))
  if limit > 0 and queued >= limit and entering then return answer(id, what + 8) end
  if create then
    w = fresh(id)
    argi = argi - nnew
    local marks, rest = struct.unpack('>Hc0', record)
    local entries = {}
    for entry in string.gmatch(marks, '[^\n]+') do entries[#entries + 1] = entry end
    for _, ref in ipairs(several(nnew)) do entries[#entries + 1] = ref end
    putlink(w, string.sub(record, rest), entries)
    enlist(id)
    what = what + 1
  end
  if not create and not duplicate and (w.place == 'f' or leased(w)) then
    local news, same = isnews(old)
    if not news then -- a parked key stays; a leased one is due again, and has its generation
      if leased(w) then change(w, delay, bulk, false) end
      remember()
      wrotesome = true
      return answer(id, same and what + 4 or what)
    end
  end
  change(w, delay, bulk, false)
  if entering and inqueue(w) then queued = queued + 1 end
  if duplicate then
    call('HSET', w.key, 'g', w.gen)
  else
    if note(id, w.key, w.gen, w.place, old) then what = what + 4 end
    remember()
  end
  wrotesome = true
  answer(id, what)
end

for i = 1, n do
  take()
  observe(i)
end
if #dues > 0 then call('ZADD', LIVE, 'LT', unpack(dues)) end
if #remembered > 0 then
  local old = call('ZRANGEBYSCORE', SEEN, '-inf', outdated, 'LIMIT', 0, sweep * n)
  if #old > 0 then call('ZREM', SEEN, unpack(old)) end
  call('ZADD', SEEN, unpack(remembered))
end
if wrotesome then out[2] = call('HINCRBY', META, 'seq', 1) end
return out
