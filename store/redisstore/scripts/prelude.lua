-- The prelude comes before every script.
--   KEYS[1]  the project's meta key; its slot is the slot of all that is touched
--   KEYS[2]  a key that never exists: no script runs while a Cluster moves the slot
--   ARGV[1]  the handle's epoch, in the form of the project's copy
--   ARGV[2]  the highest seq in any answer of this project to the handle
--   ARGV[3]  the time in ms, '' for the server's
-- A reply is {'OK', seq, ...}, seq 0 where nothing was written, or
-- {code, detail} where nothing was done: EPOCH, NOTFOUND, CONFLICT, LEASE, FULL.
local call = redis.call
local META = KEYS[1]
local BASE = string.sub(META, 1, -5)
local LIVE, BULK, WAIT = BASE .. 'live', BASE .. 'bulk', BASE .. 'wait'
local PARKED, LINKS = BASE .. 'parked', BASE .. 'links'

local known = call('HMGET', META, 'epoch', 'seq', 'form')
if known[1] ~= ARGV[1] then return {'EPOCH', known[1] or 'missing'} end
if tonumber(known[2] or 0) < tonumber(ARGV[2]) then return {'EPOCH', 'rolled back'} end

-- FORMED: the indexes have all links. Otherwise repair.lua must still index the links of an
-- earlier program.
local FORM = '1'
local FORMED = known[3] == FORM

local now = tonumber(ARGV[3])
if not now then
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local NOW = string.format('%d', now) -- a number would be put into digits each time

local argi = 3
local function arg()
  argi = argi + 1
  return ARGV[argi]
end
local function several(n)
  local list = {}
  for i = 1, n do list[i] = arg() end
  return list
end
local function args() return several(tonumber(arg())) end

local function reply(...) return {'OK', 0, ...} end
local function wrote(...) return {'OK', call('HINCRBY', META, 'seq', 1), ...} end

-- insteps runs a command with many arguments: unpack takes less than 8,000 of them.
local UNPACK = 4000 -- even, as HSET takes pairs
local function insteps(command, key, list)
  for i = 1, #list, UNPACK do call(command, key, unpack(list, i, math.min(i + UNPACK - 1, #list))) end
end

local function linkkey(id) return BASE .. 'l:' .. id end
local function eventkey(id) return BASE .. 'e:' .. id end
local function ownkey(id) return BASE .. 'o:' .. id end

-- Indexes in many parts, each of which Redis packs densely.
local REFS, LIST, SHARDS = BASE .. 'ref:', BASE .. 'list:', 1024
local TRAITS, TRAITSHARDS, TRAIT = BASE .. 'trait:', 2 * SHARDS, 5 -- most links have two; TRAIT is a trait's length
local function shardof(text, shards) return tonumber(string.sub(redis.sha1hex(text), 1, 4), 16) % (shards or SHARDS) end
local function refkey(ref) return REFS .. shardof(ref) end
local function owner(ref) return call('HGET', refkey(ref), ref) end
local function traitkey(trait) return TRAITS .. shardof(trait, TRAITSHARDS) end

-- The list of all links. Until the project is formed, it is read in LINKS.
local function listkey(id) return LIST .. shardof(id) end
local function enlist(id)
  call('ZADD', listkey(id), 0, id)
  if not FORMED then call('ZADD', LINKS, 0, id) end
end
local function delist(id)
  call('ZREM', listkey(id), id)
  if not FORMED then call('ZREM', LINKS, id) end
end
-- position is a text that sorts as the list does.
local function position(id) return string.format('%04d %s', shardof(id), id) end

-- work reads a link's queue state, nil where there is no such link. It also returns another
-- field, where one is named.
local function work(id, also)
  local key = linkkey(id)
  local v = call('HMGET', key, 'x', 'g', 't', 'u', 'n', 'p', 'b', 's', 'a', also or 'x')
  if not v[1] then return nil end
  return {
    id = id, key = key, refs = v[1], gen = tonumber(v[2] or 0), token = tonumber(v[3] or 0),
    till = tonumber(v[4] or 0), again = tonumber(v[5]), place = v[6] or '', bulk = v[7] == '1',
    service = v[8], attempts = tonumber(v[9] or 0),
  }, v[10]
end

local function fresh(id)
  return {id = id, key = linkkey(id), refs = '', gen = 0, token = 0, till = 0, place = '', bulk = false, attempts = 0}
end

local function inqueue(w) return w.place == 'q' or w.place == 'w' end
-- held: only enqueue.lua takes the parked key up again.
local HELD = 'operator'
local function held(w) return w.place == 'f' and w.service == HELD end
local function leased(w) return w.till > now end
local function holds(w, token) return w and w.token == tonumber(token) and leased(w) end

-- full: the key may not enter the queue. limit 0 is no bound.
local function full(w, limit)
  if limit == 0 or w and inqueue(w) then return false end
  return call('ZCARD', LIVE) + call('ZCARD', BULK) + call('ZCARD', WAIT) >= limit
end

-- The tally: how many links have a class, "=state route", and how many keys of a
-- route are parked, "!route". A link's class is the first entry of w.refs.
local TALLY, RECOUNT = BASE .. 'tally', BASE .. 'recount'
local function class(w) return string.match(w.refs, '^=[^\n]*') end
local function parkedof(class) return '!' .. string.match(class, ' (.*)') end
-- count changes a number of the tally, and of a recount that has passed the link.
local function count(w, kind, by)
  local function change(key)
    if call('HINCRBY', key, kind, by) == 0 then call('HDEL', key, kind) end
  end
  change(TALLY)
  local passed = call('HGET', META, 'recounted')
  if passed and position(w.id) <= passed then change(RECOUNT) end
end
local function countparked(w, by)
  local class = class(w)
  if class then count(w, parkedof(class), by) end
end

local function queuekey(w) return w.bulk and BULK or LIVE end
local function waiter(w) return w.service .. '\0' .. (w.bulk and '1' or '0') .. w.id end

-- leave removes a key from its queue index.
local function leave(w)
  if w.place == 'q' then
    call('ZREM', queuekey(w), w.id)
  elseif w.place == 'w' then
    call('ZREM', WAIT, waiter(w))
    call('HDEL', w.key, 's', 'y')
  elseif w.place == 'f' then
    call('ZREM', PARKED, w.id)
    countparked(w, -1)
    call('HDEL', w.key, 'f', 'a', 's')
    w.service = nil
    w.attempts = 0
    local abandoned = tonumber(call('HGET', w.key, 'k') or 0)
    if abandoned > 0 then
      w.abandoned = abandoned - 1
      call('HSET', w.key, 'k', w.abandoned)
    end
  end
  if w.place ~= '' then call('HDEL', w.key, 'p') end
  w.place = ''
end

-- queue makes a key due at a time.
local function queue(w, due)
  if w.place ~= 'q' then
    leave(w)
    call('HSET', w.key, 'p', 'q')
    w.place = 'q'
  end
  call('ZADD', queuekey(w), due, w.id)
end

-- classify moves a key between live and bulk.
local function classify(w, bulk)
  if w.bulk == bulk then return end
  local due = w.place == 'q' and call('ZSCORE', queuekey(w), w.id)
  if w.place == 'q' then call('ZREM', queuekey(w), w.id) end
  if w.place == 'w' then call('ZREM', WAIT, waiter(w)) end
  w.bulk = bulk
  if bulk then call('HSET', w.key, 'b', '1') else call('HDEL', w.key, 'b') end
  if w.place == 'q' then call('ZADD', queuekey(w), due, w.id) end
  if w.place == 'w' then call('ZADD', WAIT, 0, waiter(w)) end
end

-- change records a change of the key and makes it due: at once where it is free, after the
-- claim where it is leased. A key that waits for a service, or is held, goes on waiting unless
-- wake is set. The caller stores w.gen.
local function change(w, delay, bulk, wake)
  w.gen = w.gen + 1
  classify(w, bulk and (w.bulk or not inqueue(w)))
  local due = delay == 0 and NOW or now + delay
  if leased(w) then
    if not w.again or now + delay < w.again then call('HSET', w.key, 'n', due) end
  elseif w.place == 'q' then
    call('ZADD', queuekey(w), 'LT', due, w.id)
  elseif wake or w.place ~= 'w' and not held(w) then
    queue(w, due)
  end
end

-- A link's entries are its class, its traits and its refs; mark and unmark add and remove one.
local function istrait(entry) return string.byte(entry) == 126 end -- "~"
local function isref(entry) return string.byte(entry) ~= 61 and not istrait(entry) end -- "="
local function tally(w, class, by)
  count(w, class, by)
  if w.place == 'f' then count(w, parkedof(class), by) end
end
local function mark(w, entry)
  if isref(entry) then
    call('HSET', refkey(entry), entry, w.id)
  elseif istrait(entry) then
    local trait = string.sub(entry, 2)
    call('ZADD', traitkey(trait), 0, trait .. w.id)
  else
    tally(w, entry, 1)
  end
end
local function unmark(w, entry)
  if isref(entry) then
    call('HDEL', refkey(entry), entry)
  elseif istrait(entry) then
    local trait = string.sub(entry, 2)
    call('ZREM', traitkey(trait), trait .. w.id)
  else
    tally(w, entry, -1)
  end
end

-- index makes these entries the only ones of the link; the caller stores them with it. Where a
-- ref belongs to another link, index returns that ref and changes nothing.
local function index(w, entries)
  local joined = table.concat(entries, '\n')
  if joined == w.refs then return nil end
  local had, keep = {}, {}
  for entry in string.gmatch(w.refs, '[^\n]+') do had[entry] = true end
  for _, entry in ipairs(entries) do
    local o = isref(entry) and owner(entry)
    if o and o ~= w.id then return entry end
    keep[entry] = true
  end
  for entry in pairs(had) do
    if not keep[entry] then unmark(w, entry) end
  end
  for _, entry in ipairs(entries) do
    if isref(entry) or not had[entry] then mark(w, entry) end
  end
  w.refs = joined
  return nil
end

-- putlink stores a record and its entries. It returns what index does.
local function putlink(w, record, entries)
  local taken = index(w, entries)
  if not taken then call('HSET', w.key, 'r', record, 'x', w.refs) end
  return taken
end

-- Frames are a sequence of "number,length;" and that many bytes.
local function frame(number, data) return number .. ',' .. #data .. ';' .. data end
local function unframe(s)
  local list, at = {s = s}, 1
  while at <= #s do
    local number, length, body = string.match(s, '^(%d+),(%d+);()', at)
    list[#list + 1] = {number = tonumber(number), size = tonumber(length), at = at}
    at = body + length
  end
  return list
end
-- reframe returns the frames from the first-th on.
local function reframe(list, first)
  return list[first] and string.sub(list.s, list[first].at) or ''
end
