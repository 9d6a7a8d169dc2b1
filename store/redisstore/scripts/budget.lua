-- Takes one write from a budget: at most so many in any minute and any hour
-- (what is not positive bounds nothing), and at most burst back to back,
-- after which they come at an even perMinute (GCRA).
-- ARGV: name, per minute, per hour, burst
-- Reply: 0 where one was taken, else ms until one can be
local name, perminute, perhour, burst = arg(), tonumber(arg()), tonumber(arg()), tonumber(arg())
local TAKEN, BUDGETS = BASE .. 'budget:' .. name, BASE .. 'budgets'

local function window(most, length)
  local at = most > 0 and call('LINDEX', TAKEN, most - 1)
  return at and at + length - now or 0
end

local wait = math.max(0, window(perminute, 60000), window(perhour, 3600000))
local next
if perminute > 0 and burst > 0 then
  local interval = 60000 / perminute
  next = math.max(tonumber(call('HGET', BUDGETS, name) or 0), now)
  wait = math.max(wait, next - now - interval * (burst - 1))
  next = next + interval
end
if wait > 0 then return reply(math.ceil(wait)) end
if next then call('HSET', BUDGETS, name, string.format('%.3f', next)) end
call('LPUSH', TAKEN, now)
call('LTRIM', TAKEN, 0, math.max(perminute, perhour, 1) - 1)
return wrote(0)
