import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export const ADMIN_TOKEN = 'admin-token-of-the-bench';

/** A server under measurement, in a process of its own so that its processor time is its own. */
export interface BenchServer {
  readonly url: string;
  /** An API key, where the server wants one. */
  readonly key: string;
  /** An access token of the same account, where the server knows any. */
  readonly token: string;
  used(): Promise<Used>;
  stop(): Promise<void>;
}

/** What a server has used so far. */
interface Used {
  readonly cpuMicros: number;
  readonly residentBytes: number;
  /** The most that was ever resident. */
  readonly peakBytes: number;
}

interface Ready {
  readonly url: string;
  readonly key: string;
  readonly token?: string;
}

export async function forkServer(script: string, args: readonly string[] = []): Promise<BenchServer> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  // Its log goes where an operator's would go, only that it is not kept.
  const child = fork(path, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const { url, key, token = '' } = await answerOf<Ready>(child);
  return {
    url,
    key,
    token,
    used: async () => {
      child.send('used');
      return answerOf<Used>(child);
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
    if (message === 'used') {
      const { user, system } = process.cpuUsage();
      const { maxRSS } = process.resourceUsage();
      const used: Used = {
        cpuMicros: user + system,
        residentBytes: process.memoryUsage.rss(),
        peakBytes: maxRSS * 1024,
      };
      process.send?.(used);
    } else {
      void stop().then(() => process.exit(0));
    }
  });
  // A bench that was killed leaves nothing running. A signal to all of them, as from a terminal, is its own to obey: a server
  // that obeyed too would end before its database.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.on('disconnect', () => void stop().finally(() => process.exit(1)));
  process.send?.(ready);
}
