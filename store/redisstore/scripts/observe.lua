-- Observations, in their order: each finds or makes its link, stores what was
-- seen, makes it due.
-- ARGV: queue limit, outdated before, sweep, event bound, n observations, and of
--   each: delivery ('' none), delay in ms, bulk 1/0, marker's link ('' none),
--   item ('' no snapshot), at, digest, data, event ('' none), id and record of
--   the link to make ('' none), n refs, n refs of the link to make
-- Reply, of each: link id ('' dropped), created, duplicate, stored, 'FULL' or ''
local limit, outdated, sweep, events = tonumber(arg()), now - arg(), arg(), tonumber(arg())
local SEEN = BASE .. 'seen'

local delivery, delay, bulk, marker, item, at, digest, data, event, newid, record, refs, newrefs
local function take()
  delivery, delay, bulk, marker = arg(), tonumber(arg()), arg() == '1', arg()
  item, at, digest, data, event = arg(), arg(), arg(), arg(), arg()
  newid, record = arg(), arg()
  refs, newrefs = args(), args()
end

local function exists(id) return id ~= '' and call('HEXISTS', linkkey(id), 'x') == 1 end
local function resolve()
  for _, ref in ipairs(refs) do
    local id = owner(ref)
    if id then return id end
  end
  if exists(marker) then return marker end
  for _, ref in ipairs(newrefs) do
    local id = owner(ref)
    if id then return id end
  end
  return exists(newid) and newid or ''
end

-- store puts the snapshot into its slot unless a newer one is there.
local function store(w)
  local field, seen, ambiguous = 'i:' .. item, now, '0'
  local old = call('HGET', w.key, field)
  if old then
    local oldat = string.sub(old, 1, 16)
    local _, first, length, body = string.match(old, '^(%d+),(%d+),(%d+),()', 18)
    if at < oldat then return 0 end
    if at == oldat then
      if string.sub(old, body, body + length - 1) == digest then return 1 end
      ambiguous = '1'
    end
    seen = first
  end
  call('HSET', w.key, field,
    at .. ambiguous .. string.format('%d,%d,%d,', w.gen, seen, #digest) .. digest .. data)
  return 1
end

local function addevent(w)
  local list = unframe((call('HGET', w.key, 'e') or '') .. frame(w.gen, event))
  call('HSET', w.key, 'e', reframe(list, math.max(1, #list - events + 1)))
end

local function remember()
  local old = call('ZRANGEBYSCORE', SEEN, '-inf', outdated, 'LIMIT', 0, sweep)
  if #old > 0 then call('ZREM', SEEN, unpack(old)) end
  call('ZADD', SEEN, now, delivery)
end

local out, wrotesome = {}, false
local function answer(id, created, duplicate, stored, full)
  local n = #out
  out[n + 1], out[n + 2], out[n + 3], out[n + 4], out[n + 5] = id, created, duplicate and 1 or 0, stored, full
end

local function observe()
  local id = resolve()
  local before = delivery ~= '' and call('ZSCORE', SEEN, delivery)
  local duplicate = before and tonumber(before) > outdated
  local create = id == '' and newid ~= '' and not duplicate
  if create then id = newid end
  if id == '' then return answer('', 0, duplicate, 0, '') end
  local w = not create and work(id) or nil
  if full(w, limit) then return answer(id, 0, duplicate, 0, 'FULL') end
  if create then
    w = fresh(id)
    putlink(w, record, newrefs)
    call('ZADD', LINKS, 0, id)
  end
  change(w, delay, bulk, false)
  local stored = 0
  if not duplicate then
    if item ~= '' then stored = store(w) end
    if event ~= '' then addevent(w) end
    if delivery ~= '' then remember() end
  end
  wrotesome = true
  answer(id, create and 1 or 0, duplicate, stored, '')
end

for _ = 1, tonumber(arg()) do
  take()
  observe()
end
return {'OK', wrotesome and call('HINCRBY', META, 'seq', 1) or 0, unpack(out)}
