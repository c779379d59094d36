import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { cpuMicrosOf, residentBytesOf } from './processes.ts';

/** A server under measurement, in a process of its own so that its processor time is its own. */
export interface BenchServer {
  readonly url: string;
  /** An API key, where the server wants one. */
  readonly key: string;
  used(): Usage;
  stop(): Promise<void>;
}

/** What a server has used so far. */
export interface Usage {
  readonly cpuMicros: number;
  /** Of the PostgreSQL behind it, all its processes. */
  readonly databaseMicros: number;
  readonly residentBytes: number;
  readonly peakBytes: number;
}

/** A server of the bench's own. It ends with the bench. */
export async function forkServer(script: string, args: readonly string[] = []): Promise<BenchServer> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = fork(path, args);
  const { pid } = child;
  const ended = once(child, 'exit');
  const [url] = await Promise.race([once(child, 'message'), ended]);
  if (pid === undefined || typeof url !== 'string') throw new Error(`${script} did not start`);
  return {
    url,
    key: '',
    used: () => {
      const { now, peak } = residentBytesOf(pid);
      return { cpuMicros: cpuMicrosOf([pid]), databaseMicros: 0, residentBytes: now, peakBytes: peak };
    },
    stop: async () => {
      child.disconnect();
      await ended;
    },
  };
}

/** The child's side: tells the address and ends when the bench does. */
export function serveBench(server: Server): void {
  process.on('disconnect', () => process.exit(0));
  // As long as the gateway's: a connection that is closed just as the next request is sent on it tells nothing.
  server.keepAliveTimeout = 72_000;
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.send?.(`http://127.0.0.1:${port}`);
  });
}
