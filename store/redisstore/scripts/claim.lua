-- Leases the key that is due longest, live ones first, or the one that is named.
-- ARGV: ttl in ms, link ('' the next due)
-- Reply: what take returns; or '' and the ms until a key is due (0: none is)
local ttl, id, since = tonumber(arg()), arg(), nil
if id == '' then
  id, since = nextdue('')
  if not id then return reply('', since) end
end
local w, _, all = whole(id)
if not w then return {'NOTFOUND', ''} end
if leased(w) then return {'CONFLICT', ''} end
return take(w, all, since or w.place == 'q' and call('ZSCORE', queuekey(w), id) or now, ttl)
