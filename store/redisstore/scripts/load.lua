-- Stores a link with its work, as it was dumped. Of two links with one item the later one has it.
-- ARGV: link, record, n entries, its history's frames, place, since when it is due, parked or waiting (negative: not known), bulk 1/0, service, reason,
--   failed attempts, abandoned claims, token; n refs, slots and data of the inbox by turns; n events; n own events
local id, record, entries, history = arg(), arg(), args(), arg()
local place, since, bulk, service, reason = arg(), arg(), arg() == '1', arg(), arg()
local attempts, abandoned, token = arg(), arg(), arg()
local inbox, events, own = args(), args(), args()

-- part removes a ref from the link that has it.
local function part(ref, from)
  local w = work(from)
  if not w then return end
  local keep = {}
  for other in string.gmatch(w.refs, '[^\n]+') do
    if other ~= ref then keep[#keep + 1] = other end
  end
  call('HSET', w.key, 'x', table.concat(keep, '\n'))
end

for _, ref in ipairs(entries) do
  local from = isref(ref) and owner(ref)
  if from and from ~= id then
    part(ref, from)
    call('HDEL', refkey(ref), ref)
  end
end
local w = work(id) or fresh(id)
leave(w)
putlink(w, record, entries)
enlist(id)
call('HSET', w.key, 'g', 1, 't', token)
local function put(field, value) if value ~= '' and value ~= '0' then call('HSET', w.key, field, value) end end
put('h', history)
put('a', attempts)
put('k', abandoned)
if place == 'f' then
  put('f', reason)
elseif reason ~= '' and tonumber(since) >= 0 then
  put('y', since .. ',' .. reason)
end
put('s', service)
put('p', place)
put('b', bulk and '1' or '')
w.place, w.bulk, w.service = place, bulk, service
if place == 'q' then
  call('ZADD', queuekey(w), since, id)
elseif place == 'w' then
  call('ZADD', WAIT, 0, waiter(w))
elseif place == 'f' then
  call('ZADD', PARKED, since, id)
  countparked(w, 1)
end
for i = 1, #inbox, 3 do call('HSET', w.key, 'i:' .. inbox[i], inbox[i + 1], 'd:' .. inbox[i], inbox[i + 2]) end
for _, event in ipairs(events) do call('RPUSH', eventkey(id), 1, event) end
for _, event in ipairs(own) do call('RPUSH', ownkey(id), 1, event) end
if #own > 0 then call('HSET', w.key, 'o', 1) end
return wrote()
