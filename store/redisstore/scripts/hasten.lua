-- Makes a key due that stands in the queue for a later time, and changes no other one.
-- ARGV: link, delay in ms
local w = work(arg())
if not w then return {'NOTFOUND', ''} end
if w.place ~= 'q' or leased(w) then return reply() end
call('ZADD', queuekey(w), 'LT', now + arg(), w.id)
return wrote()
