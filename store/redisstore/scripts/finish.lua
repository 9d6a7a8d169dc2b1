-- Ends a claim and, where a ttl is given, leases the next key.
-- ARGV: link, token, generation, kind (done, retry, again, wait, park, hold, remove, erase),
--   delay in ms, service, reason, record ('' unchanged), n entries,
--   number of history entries, their compressed JSON, 1 where these are the whole history or 0, bounds of the entries and of their frames' bytes,
--   ttl in ms (0: no other key), 1 where the claim was no attempt or 0, session of the next claim ('' none)
-- Reply: nothing; or as claim.lua, of a key that is another one
local id, token, gen, kind = arg(), tonumber(arg()), tonumber(arg()), arg()
local delay, service, reason = tonumber(arg()), arg(), arg()
local record, entries = arg(), args()
local lines, history, entire = tonumber(arg()), arg(), arg() == '1'
local bound, bytes, ttl = tonumber(arg()), tonumber(arg()), tonumber(arg())
local unspent, session = arg() == '1', arg()
local w, f = whole(id)

-- The fields to be set and deleted, each in one command at the end.
local set, del = {}, {'u', 'n', 'c', 'm'}
local function put(field, value) set[#set + 1], set[#set + 2] = field, value end
local function drop(field) del[#del + 1] = field end

-- consume removes the claim's snapshots and events, and keeps later ones.
local function consume()
  for field, value in pairs(f) do
    local ref = string.match(field, '^i:(.*)')
    if ref and tonumber((string.match(value, '^(%d+)', 18))) <= gen then
      drop(field)
      drop('d:' .. ref)
    end
  end
  drop('e')
  local function forget(key)
    local stamp = call('LINDEX', key, 0)
    while stamp and tonumber(stamp) <= gen do
      call('LTRIM', key, 2, -1)
      stamp = call('LINDEX', key, 0)
    end
    return not stamp
  end
  forget(eventkey(w.id))
  if w.own and forget(ownkey(w.id)) then drop('o') end
end

-- addhistory drops the oldest frames beyond the bounds.
local function addhistory()
  local list = unframe((not entire and f.h or '') .. frame(lines, history))
  local sum, size, first = 0, 0, #list + 1
  while first > 1 and sum < bound and size < bytes do
    first = first - 1
    sum, size = sum + list[first].number, size + list[first].size
  end
  put('h', reframe(list, first))
end

local function remove()
  leave(w)
  call('DEL', w.key, eventkey(w.id), ownkey(w.id)) -- first: what leads to it is forgotten by repair.lua, too
  for entry in string.gmatch(w.refs, '[^\n]+') do unmark(w, entry) end
  delist(w.id)
end

-- abandoned counts the claims without a Finish. A success resets the count, as it does for
-- attempts. Taking up a parked key lowers it by one.
local function abandoned(changed)
  local n = w.abandoned + math.max(w.open - 1, 0)
  if kind == 'done' then n = 0 elseif kind == 'park' and changed then n = math.max(n - 1, 0) end
  if n > 0 then put('k', n) elseif f.k then drop('k') end
end

-- settle moves a leased key to its next place. A change that came meanwhile is due at w.again.
-- It is not where the key waits for a service, is held, or is parked without a change.
local function settle(changed)
  abandoned(changed)
  local own = (kind == 'retry' or kind == 'again' or kind == 'done' and delay > 0) and now + delay or nil
  local due = own
  if w.again and kind ~= 'wait' and kind ~= 'hold' and (changed or kind ~= 'park') then due = math.min(due or math.huge, w.again) end
  -- The reason, after the time to which it belongs: until when, or since when the key waits. It
  -- is void for a key that is due at another time.
  if kind == 'wait' or reason ~= '' and own and own == due then
    put('y', string.format('%d,', own or now) .. reason)
  elseif f.y then
    drop('y')
  end
  if kind == 'done' or kind == 'park' and changed then
    drop('a')
  elseif kind == 'retry' then
    put('a', w.attempts + 1)
  end
  if due then return call('ZADD', queuekey(w), due, w.id) end
  call('ZREM', queuekey(w), w.id)
  if kind == 'wait' then
    put('p', 'w')
    put('s', service)
    w.service = service
    call('ZADD', WAIT, 0, waiter(w))
  elseif kind == 'park' or kind == 'hold' then
    if kind == 'hold' then put('s', HELD) end
    put('p', 'f')
    put('f', reason)
    if not unspent then put('a', w.attempts + 1) end -- the attempt that led here counts among those that are shown
    call('ZADD', PARKED, now, w.id)
    countparked(w, 1)
  else
    drop('p')
  end
end

-- finish returns the error reply, or nil.
local function finish()
  -- A Finish repeated after a lost answer has nothing to do.
  if not w and kind == 'remove' or w and w.token == token and w.till == 0 then return nil end
  if not holds(w, token) then return {'LEASE', ''} end
  local changed = w.gen ~= gen
  if kind == 'remove' and not changed then return remove() end
  if record ~= '' then
    local taken = index(w, entries)
    if taken then return {'CONFLICT', taken} end
    put('r', record)
    if w.refs ~= f.x then put('x', w.refs) end
  end
  if kind == 'erase' then
    kind, f.h = 'done', nil
    if lines == 0 then drop('h') end
  end
  if lines > 0 then addhistory() end
  if kind == 'done' then consume() end
  settle(changed)
  insteps('HSET', w.key, set)
  insteps('HDEL', w.key, del)
end

local refused = finish()
if refused then return refused end
if ttl == 0 then return wrote() end
local next, all, since = nextwhole(id)
if not next then return wrote('', 0) end
return take(next, all, since, ttl, session)
