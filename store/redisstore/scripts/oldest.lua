-- Stands between the prelude and the scripts that describe the queue.

-- oldest is since when the key that is overdue longest is due; 0: none is.
local function oldest()
  local first = 0
  for _, key in ipairs({LIVE, BULK}) do
    local due = tonumber(call('ZRANGE', key, 0, 0, 'WITHSCORES')[2])
    if due and due <= now and (first == 0 or due < first) then first = due end
  end
  return first
end
