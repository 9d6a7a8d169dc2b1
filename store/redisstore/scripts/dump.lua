-- Pages through the links with all their work.
-- ARGV: cursor ('' from the start), how many at most
-- Reply: the next cursor ('' none), then for each link: its id, since when it is due or
--   parked (now, where it is leased; 0 where it is neither), the fields and values of its
--   hash, its events, its own events; each event behind its generation
local ids, after = page(arg(), tonumber(arg()))

local function since(w)
  if leased(w) then return NOW end
  if w.place == 'q' then return call('ZSCORE', queuekey(w), w.id) or NOW end
  return w.place == 'f' and call('ZSCORE', PARKED, w.id) or 0
end

local out = reply(after)
for _, id in ipairs(ids) do
  local w = work(id)
  if w then
    out[#out + 1] = {
      w.id, since(w), call('HGETALL', w.key), call('LRANGE', eventkey(w.id), 0, -1), call('LRANGE', ownkey(w.id), 0, -1),
    }
  end
end
return out
