-- Tells whether a claim holds.
-- ARGV: link, token
if not holds(work(arg()), arg()) then return {'LEASE', ''} end
return reply()
