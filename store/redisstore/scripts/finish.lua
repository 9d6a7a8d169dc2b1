-- Ends a claim and, where a ttl is given, leases the next key.
-- ARGV: link, token, generation, kind (done, retry, again, wait, park, remove),
--   delay in ms, service, reason, record ('' unchanged), n refs,
--   number of history entries, their compressed JSON, history bound,
--   ttl in ms (0: no other key)
-- Reply: nothing; or as claim.lua, of a key that is another one
local id, token, gen, kind = arg(), tonumber(arg()), tonumber(arg()), arg()
local delay, service, reason = tonumber(arg()), arg(), arg()
local record, refs = arg(), args()
local entries, history, bound, ttl = tonumber(arg()), arg(), tonumber(arg()), tonumber(arg())
local w, f = whole(id)

-- The fields to be set and deleted, each in one command at the end.
local set, del = {}, {'u', 'n'}
local function put(field, value) set[#set + 1], set[#set + 2] = field, value end
local function drop(field) del[#del + 1] = field end

-- consume forgets what the claim carried and keeps what came since.
local function consume()
  for field, value in pairs(f) do
    local ref = string.match(field, '^i:(.*)')
    if ref and tonumber((string.match(value, '^(%d+)', 18))) <= gen then
      drop(field)
      drop('d:' .. ref)
    end
  end
  drop('e')
  local key = eventkey(w.id)
  local stamp = call('LINDEX', key, 0)
  while stamp and tonumber(stamp) <= gen do
    call('LTRIM', key, 2, -1)
    stamp = call('LINDEX', key, 0)
  end
end

-- addhistory drops the oldest frames that the bound can do without.
local function addhistory()
  local list = unframe((f.h or '') .. frame(entries, history))
  local sum, first = 0, #list + 1
  while first > 1 and sum < bound do
    first = first - 1
    sum = sum + list[first].number
  end
  put('h', reframe(list, first))
end

local function remove()
  leave(w)
  call('DEL', w.key, eventkey(w.id)) -- first: what leads to it is forgotten by mend.lua, too
  for ref in string.gmatch(w.refs, '[^\n]+') do call('HDEL', refkey(ref), ref) end
  call('ZREM', LINKS, w.id)
end

-- settle gives the key, which stands in the queue while it is leased, its next
-- place. A change that came meanwhile is due at w.again, whatever the outcome
-- but that the key waits for a service.
local function settle(changed)
  local due = (kind == 'retry' or kind == 'again' or kind == 'done' and delay > 0) and now + delay or nil
  if changed and kind ~= 'wait' then due = math.min(due or math.huge, w.again) end
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
  elseif kind == 'park' then
    put('p', 'f')
    put('f', reason)
    put('a', w.attempts + 1) -- the attempt that led here counts among those that are shown
    call('ZADD', PARKED, now, w.id)
  else
    drop('p')
  end
end

-- finish returns the reply that says why nothing was done.
local function finish()
  -- A Finish that comes again because its answer was lost has nothing to do.
  if not w and kind == 'remove' or w and w.token == token and w.till == 0 then return nil end
  if not holds(w, token) then return {'LEASE', ''} end
  local changed = w.gen ~= gen
  if kind == 'remove' and not changed then return remove() end
  if record ~= '' then
    local taken = index(w, refs)
    if taken then return {'CONFLICT', taken} end
    put('r', record)
    if w.refs ~= f.x then put('x', w.refs) end
  end
  if entries > 0 then addhistory() end
  if kind == 'done' then consume() end
  settle(changed)
  if #set > 0 then call('HSET', w.key, unpack(set)) end
  call('HDEL', w.key, unpack(del))
end

local refused = finish()
if refused then return refused end
if ttl == 0 then return wrote() end
local other, since = nextdue(id)
if not other then return wrote('', 0) end
local next, _, all = whole(other)
return take(next, all, since, ttl)
