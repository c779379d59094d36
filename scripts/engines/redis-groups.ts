import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../free-ports.ts';
import { type Redis, sendRedis, startRedis } from './redis.ts';
import { EngineServer } from './server.ts';

const SLOTS = 16_384;
const RETRY_MS = 50;
const START_MS_MAX = 30_000;

export interface WatchedRedis {
  readonly url: string;
  readonly master: Redis;
  readonly replica: Redis;
  stop(): Promise<void>;
}

/** A master, a replica of it, and a sentinel that promotes the replica when the master is away for half a second. */
export async function startSentinel(): Promise<WatchedRedis> {
  const master = await startRedis();
  const replica = await startRedis('--replicaof', '127.0.0.1', String(master.port));
  const [port = 0] = await freePorts(1);
  const configuration = [
    `port ${port}`,
    'bind 127.0.0.1',
    `sentinel monitor main 127.0.0.1 ${master.port} 1`,
    'sentinel down-after-milliseconds main 500',
    'sentinel failover-timeout main 5000',
  ];
  const sentinel = await EngineServer.start(
    {
      name: 'sentinel',
      program: 'redis-server',
      args: ['sentinel.conf', '--sentinel'],
      // Only then can it promote the replica.
      isReady: async () => (await sendRedis(port, 'SENTINEL REPLICAS main')).includes(String(replica.port)),
    },
    (folder) => writeFileSync(join(folder, 'sentinel.conf'), `${configuration.join('\n')}\n`),
  );
  const stop = async () => {
    for (const server of [sentinel, replica.server, master.server]) await server.stop();
  };
  return { url: `redis+sentinel://127.0.0.1:${port}/main`, master, replica, stop };
}

export interface RedisCluster {
  readonly url: string;
  readonly nodes: readonly Redis[];
  stop(): Promise<void>;
}

/** Three nodes without replicas, each with a third of the slots. */
export async function startCluster(): Promise<RedisCluster> {
  const busPorts = await freePorts(3);
  const nodes: Redis[] = [];
  for (const busPort of busPorts) {
    const timing = ['--cluster-node-timeout', '2000'];
    nodes.push(await startRedis('--cluster-enabled', 'yes', '--cluster-port', String(busPort), ...timing));
  }
  const [first] = nodes;
  for (const [at, { port }] of nodes.entries()) {
    const [from, to] = [at, at + 1].map((third) => Math.floor((third * SLOTS) / nodes.length));
    await sendRedis(port, `CLUSTER ADDSLOTSRANGE ${from} ${(to ?? 0) - 1}`);
    if (at > 0) await sendRedis(first?.port ?? 0, `CLUSTER MEET 127.0.0.1 ${port} ${busPorts[at]}`);
  }
  await untilEachSays(nodes, 'CLUSTER INFO', 'cluster_state:ok');
  const stop = async () => {
    for (const { server } of nodes) await server.stop();
  };
  return { url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join()}`, nodes, stop };
}

async function untilEachSays(nodes: readonly Redis[], command: string, expected: string): Promise<void> {
  const deadline = performance.now() + START_MS_MAX;
  for (const { port } of nodes) {
    while (!(await sendRedis(port, command)).includes(expected)) {
      if (performance.now() > deadline) throw new Error(`a node of the cluster never said ${expected}`);
      await sleep(RETRY_MS);
    }
  }
}
