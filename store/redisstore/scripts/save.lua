-- Stores a link under its claim.
-- ARGV: link, token, record, n entries
local w = work(arg())
if not holds(w, arg()) then return {'LEASE', ''} end
local taken = putlink(w, arg(), args())
if taken then return {'CONFLICT', taken} end
return wrote()
