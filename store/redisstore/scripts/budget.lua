-- Takes items from a budget: at most so many in any minute and in any hour. A bound of 0 or less
-- bounds nothing. At most burst items come back to back, and further ones at an even perMinute
-- (GCRA). store/internal/budget does the same.
-- ARGV: n holds, name, per minute, per hour, burst, items, rank, route, author,
--   then of store/internal/rules: half-life of usage, least usage, grace of a
--   turn, how far ahead turns go, turns per item, bound of parties, four shares
-- Reply: items given, ms until to ask again, 1 where a hold is the reason
local closed = now
for _, hold in ipairs(args()) do
  closed = math.max(closed, tonumber(call('HGET', BASE .. 'holds', hold) or 0))
end
if closed > now then return reply(0, closed - now, 1) end
local name, perminute, perhour, burst = arg(), tonumber(arg()), tonumber(arg()), tonumber(arg())
local items, rank, route, author = tonumber(arg()), tonumber(arg()), arg(), arg()
local halflife, least, grace, farthest = tonumber(arg()), tonumber(arg()), tonumber(arg()), tonumber(arg())
local turnsper, parties, shares = tonumber(arg()), tonumber(arg()), several(4)
local TAKEN, BUDGETS, SHARE = BASE .. 'budget:' .. name, BASE .. 'budgets', BASE .. 'share:' .. name
local KEEP = 2 * 3600 * 1000
if perminute > 0 and perhour >= 60 * perminute then perhour = 0 end -- no hour has more than its minutes

-- The parties' usage, waits and turns. Entries without effect are removed.
local mine, whole = 'u\n' .. route, 'u\n' .. route .. '\n' .. author
local used, waits, total, others, known = {}, {}, 0, 0, 0
local all = route ~= '' and call('HGETALL', SHARE) or {}
local gone = {}
for i = 1, #all, 2 do
  local field, value = all[i], all[i + 1]
  local kind, stays = string.sub(field, 1, 1), false
  if kind == 'u' then
    local amount, at = string.match(value, '^([^,]+),(%d+)$')
    local left = amount and amount * 2 ^ ((at - now) / halflife) or 0
    stays = left >= least
    if stays then
      used[field] = left
      if not string.find(field, '\n', 3, true) then
        total = total + left
        if field ~= mine then others = others + 1 end
      end
    end
  elseif tonumber(value) > now then
    stays = true
    if kind == 'w' then
      local r, of, who = string.match(field, '^w\n(%d)\n([^\n]*)\n(.*)$')
      if r then waits[#waits + 1] = {rank = tonumber(r), route = of, author = who} end
    end
  end
  if not stays then gone[#gone + 1] = field elseif kind ~= 't' then known = known + 1 end
end
for _, field in ipairs(gone) do call('HDEL', SHARE, field) end

-- The waiting parties before this one; jumps: it goes before a party of its own route.
local function usage(r, a) return used[a and 'u\n' .. r .. '\n' .. a or 'u\n' .. r] or 0 end
local ahead, jumps = 0, false
for _, w in ipairs(waits) do
  local before
  if w.rank ~= rank then
    before = w.rank < rank
  elseif w.route ~= route then
    before = usage(w.route) < usage(route)
  else
    before = usage(route, w.author) < usage(route, author)
    jumps = jumps or usage(route, w.author) > usage(route, author)
  end
  if before then ahead = ahead + 1 end
end

-- A route is within its share while it used no more than the mean of all, counting one more that
-- may come.
local level = math.min(rank + 2, 4)
if rank == 0 and usage(route) * (others + 2) <= total then level = 1 end
local function share(bound) return math.max(1, math.floor(bound * shares[level] / 12)) end

-- A waiting party that wants many comes back for a tenth of a bound at once.
local free, wait = items, 0
local function some(most, leave) return math.min(items, most - leave, math.max(1, math.floor(most / 10))) end
local function window(bound, length)
  if bound <= 0 then return end
  local most = share(bound)
  local leave = math.min(ahead, most - 1)
  local low, high = 0, call('LLEN', TAKEN) -- how many are of the window
  while low < high do
    local middle = math.floor((low + high) / 2)
    if call('LINDEX', TAKEN, middle) + length > now then low = middle + 1 else high = middle end
  end
  free = math.min(free, most - low - leave)
  local last = call('LINDEX', TAKEN, most - leave - some(most, leave))
  if last then wait = math.max(wait, last + length - now) end
end
window(perminute, 60000)
window(perhour, 3600000)
local next, interval
if perminute > 0 and burst > 0 then
  interval = 60000 / perminute
  next = math.max(tonumber(call('HGET', BUDGETS, name) or 0), now)
  local most = share(burst)
  local leave = math.min(ahead, most - 1)
  free = math.min(free, math.floor((now + interval * most - next) / interval) - leave)
  wait = math.max(wait, next - now - interval * (most - leave - some(most, leave)))
end

if free <= 0 then
  wait = math.max(1, math.ceil(wait))
  if route == '' then return reply(0, wait, 0) end
  if not jumps then -- those of one route and rank have turns one after the other
    local line = 't\n' .. rank .. '\n' .. route
    local each = perminute > 0 and 60000 / perminute or 0
    if perhour > 0 then each = math.max(each, 3600000 / perhour) end
    local at = math.max(wait, tonumber(call('HGET', SHARE, line) or 0) - now)
    if at > wait + farthest then at = wait + farthest / 2 end
    call('HSET', SHARE, line, string.format('%.0f', now + at + each / turnsper))
    wait = math.ceil(at)
  end
  if known < parties then
    local waiter = 'w\n' .. rank .. '\n' .. route .. '\n' .. author
    local till = math.max(tonumber(call('HGET', SHARE, waiter) or 0), now + wait + grace)
    call('HSET', SHARE, waiter, string.format('%.0f', till))
  end
  call('PEXPIRE', SHARE, KEEP)
  return reply(0, wait, 0)
end

if next then call('HSET', BUDGETS, name, string.format('%.3f', next + free * interval)) end
for _ = 1, free do call('LPUSH', TAKEN, NOW) end
call('LTRIM', TAKEN, 0, math.max(perminute, perhour, 1) - 1)
call('PEXPIRE', TAKEN, KEEP)
if route ~= '' then
  local function use(field) call('HSET', SHARE, field, string.format('%.4f,%s', (used[field] or 0) + free, NOW)) end
  use(mine)
  if author ~= '' and known < parties then use(whole) end
  call('HDEL', SHARE, 'w\n' .. rank .. '\n' .. route .. '\n' .. author)
  call('PEXPIRE', SHARE, KEEP)
end
return wrote(free, 0, 0)
