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
local w = work(id)

-- consume forgets what the claim carried and keeps what came since.
local function consume()
  for _, field in ipairs(call('HKEYS', w.key)) do
    if string.sub(field, 1, 2) == 'i:' then
      local stored = string.match(call('HGET', w.key, field), '^(%d+)', 18)
      if tonumber(stored) <= gen then call('HDEL', w.key, field, 'd:' .. string.sub(field, 3)) end
    end
  end
  call('HDEL', w.key, 'e')
  local key = eventkey(w.id)
  local stamp = call('LINDEX', key, 0)
  while stamp and tonumber(stamp) <= gen do
    call('LTRIM', key, 2, -1)
    stamp = call('LINDEX', key, 0)
  end
end

-- addhistory drops the oldest frames that the bound can do without.
local function addhistory()
  local list = unframe((call('HGET', w.key, 'h') or '') .. frame(entries, history))
  local sum, first = 0, #list + 1
  while first > 1 and sum < bound do
    first = first - 1
    sum = sum + list[first].number
  end
  call('HSET', w.key, 'h', reframe(list, first))
end

local function remove()
  leave(w)
  for ref in string.gmatch(w.refs, '[^\n]+') do call('HDEL', refkey(ref), ref) end
  call('ZREM', LINKS, w.id)
  call('DEL', w.key, eventkey(w.id))
end

-- settle gives the key its next place. A change that came meanwhile is due at
-- w.again, whatever the outcome but that the key waits for a service.
local function settle(changed)
  local due = (kind == 'retry' or kind == 'again' or kind == 'done' and delay > 0) and now + delay or nil
  if changed and kind ~= 'wait' then due = math.min(due or math.huge, w.again) end
  call('HDEL', w.key, 'u', 'n')
  if kind == 'done' or kind == 'park' and changed then
    call('HDEL', w.key, 'a')
  elseif kind == 'retry' then
    call('HINCRBY', w.key, 'a', 1)
  end
  if due then return queue(w, due) end
  leave(w)
  if kind == 'wait' then
    w.service = service
    call('HSET', w.key, 'p', 'w', 's', service)
    call('ZADD', WAIT, 0, waiter(w))
  elseif kind == 'park' then
    -- The attempt that led here counts among those that are shown.
    call('HSET', w.key, 'p', 'f', 'f', reason, 'a', w.attempts + 1)
    call('ZADD', PARKED, now, w.id)
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
    local taken = putlink(w, record, refs)
    if taken then return {'CONFLICT', taken} end
  end
  if entries > 0 then addhistory() end
  if kind == 'done' then consume() end
  settle(changed)
end

local refused = finish()
if refused then return refused end
if ttl == 0 then return wrote() end
local other = nextdue(id)
if not other then return wrote('', 0) end
return take(work(other), ttl)
