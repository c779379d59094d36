import type { RedisSettings } from '../redis-settings.ts';
import { RedisConnection } from '../throttle/index.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';

/** Opens a connection and runs the limiter's own script on a key that ends within a minute. */
export async function checkRedis({ address, whenAway }: RedisSettings): Promise<Finding> {
  let connection: RedisConnection | undefined;
  try {
    connection = await RedisConnection.open({ address });
    await connection.probe('doctor');
    return judgeServer(await connection.info().catch(() => ''));
  } catch (error) {
    const effect = whenAway === 'fail' ? 'requests are refused' : 'each process takes its share of every limit';
    return problem('redis', reasonOf(error), `Check REDIS_URL and the server; meanwhile ${effect}.`);
  } finally {
    connection?.close();
  }
}

/** By its `INFO`, which is empty where the user may not ask for it. */
function judgeServer(info: string): Finding {
  const lineOf = (name: string) => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1];
  const version = lineOf('valkey_version') ?? lineOf('redis_version');
  const name = lineOf('valkey_version') === undefined ? 'Redis' : 'Valkey';
  const answers = version === undefined ? 'the server takes and counts' : `${name} ${version} takes and counts`;
  const evicts = /^(?:allkeys|volatile)/.test(lineOf('maxmemory_policy') ?? '') && lineOf('maxmemory') !== '0';
  if (!evicts) return ok('redis', answers);
  const advice = 'Set maxmemory-policy to noeviction, or give limits a server of their own.';
  return warning('redis', `${answers}, but it evicts keys when its memory is full: limits are then forgotten`, advice);
}
