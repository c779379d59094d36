import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

/** Every address of a name. Rejects if there is none. */
export type Resolver = (hostname: string) => Promise<readonly string[]>;

/** As the rest of the machine resolves names, its hosts file included. */
export const resolveBySystem: Resolver = async (hostname) => {
  const answers = await lookup(hostname, { all: true, order: 'verbatim' });
  return answers.map(({ address }) => address);
};

/** An address is its own answer. The wait ends with the signal, although the system's lookup goes on. */
export async function resolveOnce(resolve: Resolver, host: string, signal: AbortSignal): Promise<readonly string[]> {
  signal.throwIfAborted();
  if (isIP(host) !== 0) return [host];
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([resolve(host), aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
