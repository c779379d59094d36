import { AsyncLocalStorage } from 'node:async_hooks';
import type { Actor } from '../audit/index.ts';
import type { Tx } from '../db/index.ts';

/** Who is signed in at the browser that a request came from. */
interface Visitor {
  readonly sessionId: string;
  readonly personId: string;
  readonly email: string;
}

/** A request to the authorization server, as far as the server's models need to know of it. */
export interface Exchange {
  readonly requestId: string;
  /** Whether the app itself gives a token back; otherwise what is revoked was used a second time. */
  readonly isRevocation: boolean;
  readonly visitor: () => Promise<Visitor | undefined>;
  /**
   * What the request changes. It is committed as one transaction before the answer is sent: a code is used up with the
   * tokens that it gave, or neither, wherever the process is killed.
   */
  readonly writes: ((tx: Tx) => Promise<void>)[];
}

const exchanges = new AsyncLocalStorage<Exchange>();

export function runExchange<Result>(exchange: Exchange, work: () => Promise<Result>): Promise<Result> {
  return exchanges.run(exchange, work);
}

/** Models are used by pages too, outside of any request to the server itself. */
export function currentExchange(): Exchange | undefined {
  return exchanges.getStore();
}

/** In whose name the current request revokes what it revokes. */
export function serverActor(): Actor {
  const exchange = currentExchange();
  return { name: exchange?.isRevocation === true ? 'app' : 'reuse detection', requestId: exchange?.requestId };
}
