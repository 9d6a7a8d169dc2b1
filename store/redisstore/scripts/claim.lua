-- Leases the key that is due longest, live ones first, or the one that is named.
-- ARGV: ttl in ms, link ('' the next due), session ('' none)
-- Reply: what take returns; or '' and the ms until a key is due (0: none is)
local ttl, id, session = tonumber(arg()), arg(), arg()
if id == '' then
  local w, all, since = nextwhole('')
  if not w then return reply('', since) end
  return take(w, all, since, ttl, session)
end
local w, _, all = whole(id)
if not w then return {'NOTFOUND', ''} end
if leased(w) then return {'CONFLICT', ''} end
return take(w, all, w.place == 'q' and call('ZSCORE', queuekey(w), id) or now, ttl, session)
