-- Finds the link of an item.
-- ARGV: ref
-- Reply: link id, or nil
return reply(owner(arg()))
