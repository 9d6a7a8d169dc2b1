-- Repairs redundant data of which a script's writes were stored in part. A Redis that loads an
-- AOF cut within a transaction leaves the transaction's beginning in the file, and runs it when
-- it is started once more.
-- It works in pages. Others may use the project between two pages: a page changes only states
-- that no whole script leaves behind.
-- It also lists the links of an earlier program, and returns those without a class; see
-- indexlinks.lua.
-- ARGV: 'list', 'refs', 'traits', 'links', the name of a queue, or 'form'; a cursor ('' from
--   the start); about how many to look at
-- Reply: the next cursor ('' none), how many repairs, how many corrected counts, the kind and
--   the old and new value of each, then each link without a class and its record
local what, from, most = arg(), arg(), tonumber(arg())
local repaired, cursor = 0, ''
local recounted, unclassified = {}, {}
local function append(list, ...)
  for _, value in ipairs({...}) do list[#list + 1] = value end
end

local function exists(id) return call('HEXISTS', linkkey(id), 'x') == 1 end
local function repair(...)
  repaired = repaired + 1
  call(...)
end

-- list lists the links of an earlier program.
local function list()
  if FORMED then return end
  local ids
  ids, cursor = earlier(from, most)
  for _, id in ipairs(ids) do call('ZADD', listkey(id), 0, id) end
end

-- form makes readers use the list from now on.
local function form()
  if FORMED then return end
  call('HSET', META, 'form', FORM)
  call('UNLINK', LINKS)
end

-- refs removes refs of missing links, and lists links that are not listed.
local function refs()
  local shard, looked = tonumber(from) or 0, 0
  while shard < SHARDS and looked < most do
    local entries = call('HGETALL', REFS .. shard)
    for i = 1, #entries, 2 do
      local ref, id = entries[i], entries[i + 1]
      if not exists(id) then
        repair('HDEL', REFS .. shard, ref)
      elseif not call('ZSCORE', listkey(id), id) then
        repaired = repaired + 1
        enlist(id)
      end
    end
    shard, looked = shard + 1, looked + #entries / 2
  end
  cursor = shard < SHARDS and shard or ''
end

-- traits removes entries of traits that their links lack.
local function traits()
  local shard, looked = tonumber(from) or 0, 0
  while shard < TRAITSHARDS and looked < most do
    local members = call('ZRANGE', TRAITS .. shard, 0, -1)
    for _, member in ipairs(members) do
      local trait, id = string.sub(member, 1, TRAIT), string.sub(member, TRAIT + 1)
      local entries = call('HGET', linkkey(id), 'x')
      if not entries or not string.find('\n' .. entries .. '\n', '\n~' .. trait .. '\n', 1, true) then
        repair('ZREM', TRAITS .. shard, member)
      end
    end
    shard, looked = shard + 1, looked + #members
  end
  cursor = shard < TRAITSHARDS and shard or ''
end

local function bears(w, entry)
  local trait = string.sub(entry, 2)
  return call('ZSCORE', traitkey(trait), trait .. w.id)
end

-- own keeps the refs of a link that no other link has: a later save reports the rest.
local function own(w)
  local keep = {}
  for entry in string.gmatch(w.refs, '[^\n]+') do
    local o = isref(entry) and owner(entry)
    if isref(entry) and not o then repair('HSET', refkey(entry), entry, w.id) end
    if istrait(entry) and not bears(w, entry) then
      repaired = repaired + 1
      mark(w, entry)
    end
    if not o or o == w.id then keep[#keep + 1] = entry end
  end
  local joined = table.concat(keep, '\n')
  if joined ~= w.refs then repair('HSET', w.key, 'x', joined) end
  w.refs = joined
end

-- place makes a key due that is not exactly where its place says.
local function place(w)
  local stands = (call('ZSCORE', LIVE, w.id) and 'q' or '') .. (call('ZSCORE', BULK, w.id) and 'b' or '') ..
    (call('ZSCORE', PARKED, w.id) and 'f' or '') .. (w.service and call('ZSCORE', WAIT, waiter(w)) and 'w' or '')
  if stands == (w.place == 'q' and w.bulk and 'b' or w.place) then return end
  for _, key in ipairs({LIVE, BULK, PARKED}) do call('ZREM', key, w.id) end
  if w.service then call('ZREM', WAIT, waiter(w)) end
  if w.place == 'f' then countparked(w, -1) end
  call('HDEL', w.key, 'p', 's', 'f')
  w.place = ''
  repaired = repaired + 1
  queue(w, math.max(now, w.till))
end

-- recount adds a link to the recount.
local function recount(w)
  local class = class(w)
  if not class then return end
  call('HINCRBY', RECOUNT, class, 1)
  if w.place == 'f' then call('HINCRBY', RECOUNT, parkedof(class), 1) end
end

local function numbers(key)
  local all, out = call('HGETALL', key), {}
  for i = 1, #all, 2 do out[all[i]] = all[i + 1] end
  return out
end

-- compare replaces the tally by a recount that has passed all links.
local function compare()
  local was, is = numbers(TALLY), numbers(RECOUNT)
  for kind, n in pairs(is) do
    if was[kind] ~= n then append(recounted, kind, was[kind] or 0, n) end
  end
  for kind, n in pairs(was) do
    if not is[kind] then append(recounted, kind, n, 0) end
  end
  call('HDEL', META, 'recounted')
  if #recounted > 0 and next(is) then call('RENAME', RECOUNT, TALLY) elseif #recounted > 0 then call('DEL', TALLY) end
  call('DEL', RECOUNT)
end

-- links repairs each link's index entries and counts it. Of two concurrent recounts only the
-- later one goes on.
local function links()
  local ids
  ids, cursor = formed(from, most)
  if from == '' then call('DEL', RECOUNT) end
  local counting = from == '' or call('HGET', META, 'recounted') == from
  for _, id in ipairs(ids) do
    local w, record = work(id, 'r')
    if w then
      own(w)
      place(w)
      if counting then recount(w) end
      if not class(w) and record then append(unclassified, id, record) end
    else
      repaired = repaired + 1
      delist(id)
    end
  end
  if counting and cursor == '' then compare() elseif counting then call('HSET', META, 'recounted', cursor) end
end

-- stands reports whether a member is in the index of its key's place.
local function stands(member)
  if what ~= 'wait' then return exists(member) end
  local w = work(string.match(member, '%z.(.*)$'))
  return w and w.place == 'w' and waiter(w) == member
end

-- queued removes the queue entries of missing links. Whatever others add, move and remove
-- between two pages, ZSCAN shows each entry that exists throughout.
local function queued()
  local key = BASE .. what
  local page = call('ZSCAN', key, from == '' and 0 or from, 'COUNT', most)
  for i = 1, #page[2], 2 do
    if not stands(page[2][i]) then repair('ZREM', key, page[2][i]) end
  end
  cursor = page[1] ~= '0' and page[1] or ''
end

local passes = {list = list, refs = refs, traits = traits, links = links, form = form}
local pass = passes[what] or queued
pass()
local out = repaired > 0 and wrote(cursor, repaired, #recounted / 3) or reply(cursor, 0, #recounted / 3)
append(out, unpack(recounted))
append(out, unpack(unclassified))
return out
