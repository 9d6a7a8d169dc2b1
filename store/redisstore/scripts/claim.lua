-- Leases the key that is due longest, live ones first, or the one that is named.
-- ARGV: ttl in ms, link ('' the next due)
-- Reply: what take returns; or '' and the ms until a key is due (0: none is)
local ttl, id, wait = tonumber(arg()), arg(), nil
if id == '' then
  id, wait = nextdue('')
  if not id then return reply('', wait) end
end
local w = work(id)
if not w then return {'NOTFOUND', ''} end
if leased(w) then return {'CONFLICT', ''} end
return take(w, ttl)
