-- KEYS: head, log
-- ARGV: id and count of the end that the caller knows of, an id for a new log,
--       lifetime in ms, limit in bytes, entries...
local known, count = ARGV[1], tonumber(ARGV[2])
local head = redis.call('HMGET', KEYS[1], 'id', 'base', 'bytes')
local id, base, bytes = head[1], tonumber(head[2] or 0), tonumber(head[3] or 0)
if not id then
  if known ~= '0' then return {'gone'} end
  id = ARGV[3]
end
local length = redis.call('LLEN', KEYS[2])
local last = base + length
-- A caller that knows of nothing is at the beginning of any log.
local follows = id == known or (known == '0' and last == 0)
if not follows or last ~= count then
  if follows and base <= count and count < last then
    return {'behind', id, last, 0, redis.call('LRANGE', KEYS[2], count - base, -1)}
  end
  local state = redis.call('HGET', KEYS[1], 'state')
  return {'behind', id, last, 1, redis.call('LRANGE', KEYS[2], 0, -1), state}
end
local adding = 0
for i = 6, #ARGV do adding = adding + #ARGV[i] end
if bytes + adding > tonumber(ARGV[5]) then return {'full'} end
if adding > 0 then
  redis.call('HSET', KEYS[1], 'id', id, 'base', base, 'bytes', bytes + adding)
  for i = 6, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[i]) end
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
end
return {'done', id, last + #ARGV - 5, bytes + adding}
