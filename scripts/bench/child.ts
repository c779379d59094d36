import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export const ADMIN_TOKEN = 'admin-token-of-the-bench';

/** A server under measurement, in a process of its own so that its processor time is its own. */
export interface BenchServer {
  readonly url: string;
  /** An API key, where the server wants one. */
  readonly key: string;
  /** Processor time used so far, in microseconds. */
  cpuMicros(): Promise<number>;
  /** Resident memory. */
  memoryBytes(): Promise<number>;
  stop(): Promise<void>;
}

interface Ready {
  readonly url: string;
  readonly key: string;
}

export async function forkServer(script: string, args: readonly string[] = []): Promise<BenchServer> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  // Its log goes where an operator's would go, only that nobody keeps it.
  const child = fork(path, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const { url, key } = await answerOf<Ready>(child);
  return {
    url,
    key,
    cpuMicros: async () => {
      child.send('cpu');
      return (await answerOf<{ cpuMicros: number }>(child)).cpuMicros;
    },
    memoryBytes: async () => {
      child.send('memory');
      return (await answerOf<{ memoryBytes: number }>(child)).memoryBytes;
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.send('stop');
      await ended;
    },
  };
}

/** The child's next message; a child that ends instead is an error. */
async function answerOf<Answer>(child: ChildProcess): Promise<Answer> {
  const settled = new AbortController();
  const ended = once(child, 'exit', { signal: settled.signal }).then(([code]) => {
    throw new Error(`a server under measurement ended with code ${code}`);
  });
  try {
    const [answer] = await Promise.race([once(child, 'message', { signal: settled.signal }), ended]);
    return answer;
  } finally {
    settled.abort();
    ended.catch(() => undefined);
  }
}

/** The child's side: says that it is ready, then answers the bench's questions. */
export function answerBench(ready: Ready, stop: () => Promise<void>): void {
  process.on('message', (message) => {
    if (message === 'cpu') {
      const { user, system } = process.cpuUsage();
      process.send?.({ cpuMicros: user + system });
    } else if (message === 'memory') {
      process.send?.({ memoryBytes: process.memoryUsage.rss() });
    } else {
      void stop().then(() => process.exit(0));
    }
  });
  process.send?.(ready);
}
