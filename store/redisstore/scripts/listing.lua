-- Stands between the prelude and the scripts that page through the list of links.

-- formed returns the ids behind a cursor, at most so many, and the cursor of the next
-- page ('' none). A cursor is the position of the last id; one of another form, as
-- earlier gives it, begins the list anew.
local function formed(cursor, most)
  local ids, shard, from = {}, 0, '-'
  local at, last = string.match(cursor, '^(%d%d%d%d) (.*)$')
  if at then shard, from = tonumber(at), '(' .. last end
  local left = string.format('%d', most + 1) -- here, too, numbers would be put into digits each time
  while shard < SHARDS and #ids <= most do
    local found = call('ZRANGEBYLEX', string.format('%s%d', LIST, shard), from, '+', 'LIMIT', '0', left)
    for _, id in ipairs(found) do ids[#ids + 1] = id end
    if #found > 0 then left = string.format('%d', most + 1 - #ids) end
    shard, from = shard + 1, '-'
  end
  if #ids <= most then return ids, '' end
  ids[#ids] = nil
  return ids, position(ids[#ids])
end

-- earlier is formed of the set in which earlier programs had all ids.
local function earlier(cursor, most)
  local ids = call('ZRANGEBYLEX', LINKS, cursor == '' and '-' or '(' .. cursor, '+', 'LIMIT', 0, most + 1)
  local after = ids[most + 1] and ids[most] or ''
  ids[most + 1] = nil
  return ids, after
end

local page = FORMED and formed or earlier
