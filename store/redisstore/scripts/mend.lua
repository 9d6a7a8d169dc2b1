-- Makes agree what the store says twice, where a script's writes were stored in part:
-- a Redis that loads an AOF that was cut within a transaction leaves the transaction's
-- beginning in the file, and when it is started once more runs that.
-- It does so in pages. Others may use the project between two of them: a page changes
-- only what no whole script leaves behind.
-- ARGV: 'refs', 'links', or the name of a queue; a cursor ('' from the start); about
--   how many to look at
-- Reply: the next cursor ('' none), how many things did not agree
local what, from, most = arg(), arg(), tonumber(arg())
local mended, cursor = 0, ''

local function exists(id) return call('HEXISTS', linkkey(id), 'x') == 1 end
local function mend(...)
  mended = mended + 1
  call(...)
end

-- refs forgets what leads to links that there are not; links that are not listed are.
local function refs()
  local shard, looked = tonumber(from) or 0, 0
  while shard < SHARDS and looked < most do
    local entries = call('HGETALL', REFS .. shard)
    for i = 1, #entries, 2 do
      local ref, id = entries[i], entries[i + 1]
      if not exists(id) then
        mend('HDEL', REFS .. shard, ref)
      elseif not call('ZSCORE', LINKS, id) then
        mend('ZADD', LINKS, 0, id)
      end
    end
    shard, looked = shard + 1, looked + #entries / 2
  end
  cursor = shard < SHARDS and shard or ''
end

-- own leaves a link the refs that no other one has: who saves it is told of the rest.
local function own(w)
  local keep = {}
  for ref in string.gmatch(w.refs, '[^\n]+') do
    local o = owner(ref)
    if not o then mend('HSET', refkey(ref), ref, w.id) end
    if not o or o == w.id then keep[#keep + 1] = ref end
  end
  local joined = table.concat(keep, '\n')
  if joined ~= w.refs then mend('HSET', w.key, 'x', joined) end
end

-- place makes a key due that does not stand where it says, and there alone.
local function place(w)
  local stands = (call('ZSCORE', LIVE, w.id) and 'q' or '') .. (call('ZSCORE', BULK, w.id) and 'b' or '') ..
    (call('ZSCORE', PARKED, w.id) and 'f' or '') .. (w.service and call('ZSCORE', WAIT, waiter(w)) and 'w' or '')
  if stands == (w.place == 'q' and w.bulk and 'b' or w.place) then return end
  for _, key in ipairs({LIVE, BULK, PARKED}) do call('ZREM', key, w.id) end
  if w.service then call('ZREM', WAIT, waiter(w)) end
  call('HDEL', w.key, 'p', 's', 'f')
  w.place = ''
  mended = mended + 1
  queue(w, math.max(now, w.till))
end

local function links()
  local ids = call('ZRANGEBYLEX', LINKS, from == '' and '-' or '(' .. from, '+', 'LIMIT', 0, most)
  for _, id in ipairs(ids) do
    local w = work(id)
    if w then
      own(w)
      place(w)
    else
      mend('ZREM', LINKS, id)
    end
  end
  cursor = #ids == most and ids[most] or ''
end

-- stands reports whether it is there that the key of a member is.
local function stands(member)
  if what ~= 'wait' then return exists(member) end
  local w = work(string.match(member, '%z.(.*)$'))
  return w and w.place == 'w' and waiter(w) == member
end

-- queued forgets the places of links that there are not. However others come, move and
-- go between two pages, ZSCAN shows whatever stands there all the time.
local function queued()
  local key = BASE .. what
  local page = call('ZSCAN', key, from == '' and 0 or from, 'COUNT', most)
  for i = 1, #page[2], 2 do
    if not stands(page[2][i]) then mend('ZREM', key, page[2][i]) end
  end
  cursor = page[1] ~= '0' and page[1] or ''
end

if what == 'refs' then refs() elseif what == 'links' then links() else queued() end
if mended > 0 then return wrote(cursor, mended) end
return reply(cursor, 0)
