/** Server time in milliseconds, so that processes whose clocks differ count alike. */
const SERVER_TIME = `
local time = redis.call('TIME')
local serverMs = time[1] * 1000 + math.floor(time[2] / 1000)
`;

export interface LimitScripts {
  readonly take: string;
  readonly renew: string;
}

/** Tests put another source of `serverMs` in the place of the server's time. */
export function limitScripts(serverTime: string = SERVER_TIME): LimitScripts {
  return { take: serverTime + TAKE, renew: serverTime + RENEW };
}

/** What the script of `take` replies. */
export const TAKE_REPLY = { acquired: 0, rate: 1, slot: 2 } as const;

/**
 * The same arithmetic as `memory.ts`: a level in requests × 60 000, so that one millisecond adds exactly the rate that was in
 * force. Bucket and slot are both taken or neither. A refusal writes nothing, unless the rate has changed or the clock was set back.
 *
 * KEYS: bucket, slots. ARGV: rpm, concurrency or '', id of the lease, its milliseconds, offset of the test clock.
 * The bucket expires after a minute, in which any bucket fills up. Slots are a sorted set of leases by the time at which they
 * end. Ended ones are removed when they matter, which is at the limit; so are those that end later than a lease can, which
 * a server with another clock left behind.
 */
const TAKE = `
local rpm = tonumber(ARGV[1])
local leaseMs = tonumber(ARGV[4])
local nowMs = serverMs + tonumber(ARGV[5])
local level = rpm * 60000
local isStale = false
local bucket = redis.call('GET', KEYS[1])
if bucket then
  local before, filledAtMs, rpmBefore = string.match(bucket, '^(%d+) (%d+) (%d+)$')
  local elapsedMs = nowMs - filledAtMs
  level = math.min(level, rpmBefore * 60000, before + math.max(0, elapsedMs) * rpmBefore)
  isStale = elapsedMs < 0 or rpmBefore ~= ARGV[1]
end
local reply = 0
if level < 60000 then
  reply = 1
elseif ARGV[2] ~= '' then
  local concurrency = tonumber(ARGV[2])
  if redis.call('ZCARD', KEYS[2]) >= concurrency then
    redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', serverMs)
    redis.call('ZREMRANGEBYSCORE', KEYS[2], '(' .. (serverMs + 2 * leaseMs), '+inf')
    if redis.call('ZCARD', KEYS[2]) >= concurrency then reply = 2 end
  end
  if reply == 0 then
    redis.call('ZADD', KEYS[2], serverMs + leaseMs, ARGV[3])
    redis.call('PEXPIRE', KEYS[2], leaseMs)
  end
end
if reply == 0 then level = level - 60000 end
if reply == 0 or isStale then
  redis.call('SET', KEYS[1], level .. ' ' .. nowMs .. ' ' .. ARGV[1], 'PX', 60000)
end
return reply
`;

/**
 * Extends leases, and adds those that the server does not have: it may have lost its memory, or they were taken while it was
 * away. KEYS: slots. ARGV: milliseconds, ids.
 */
const RENEW = `
for index = 2, #ARGV do redis.call('ZADD', KEYS[1], serverMs + ARGV[1], ARGV[index]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 0
`;
