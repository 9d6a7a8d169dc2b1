-- Makes one key due, wherever it stands.
-- ARGV: link, queue limit, delay in ms, bulk 1/0
local w = work(arg())
if not w then return {'NOTFOUND', ''} end
if full(w, tonumber(arg())) then return {'FULL', ''} end
change(w, tonumber(arg()), arg() == '1', true)
call('HSET', w.key, 'g', w.gen)
return wrote()
