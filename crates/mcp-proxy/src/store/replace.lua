-- KEYS: head, log
-- ARGV: id and count of the end that the caller knows of, lifetime in ms,
--       how many unwritten entries the state stands for besides, state
local head = redis.call('HMGET', KEYS[1], 'id', 'base')
local last = tonumber(head[2] or 0) + redis.call('LLEN', KEYS[2])
if head[1] ~= ARGV[1] or last ~= tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], 'base', last + tonumber(ARGV[4]),
           'state', ARGV[5], 'bytes', #ARGV[5])
redis.call('DEL', KEYS[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
