import { buildConnector, Pool } from 'undici';
import { boundReads } from '../../bounded-reads.ts';
import { type CloudSettings, NO_CLOUD } from '../../cloud-settings.ts';
import { UpstreamError } from '../../errors.ts';
import { JsonError, type JsonObject } from '../../json.ts';
import { scanJson } from '../../json-scan.ts';
import {
  JSON_DEPTH_MAX,
  UPSTREAM_CONNECT_TIMEOUT_MS,
  UPSTREAM_CONNECTIONS_MAX,
  UPSTREAM_RESPONSE_BYTES_MAX,
} from '../../limits.ts';
import type { Span } from '../../signals/index.ts';
import type { UpstreamReply } from './exchange.ts';
import { isObject } from './json.ts';
import { TokenCache } from './tokens.ts';

/** One configured account at a vendor, for one attempt: address, secret, time limit, and when to give up. */
export interface Upstream {
  /** The model's name on the vendor's wire. */
  readonly model: string;
  /** Without a trailing slash; '' for a vendor inside this process. */
  readonly address: string;
  readonly apiKey: string;
  /** Another way to prove who calls than the key alone: its `kind` and its settings, none of them secret. */
  readonly credential?: Readonly<Record<string, string>> | undefined;
  /** One of the vendor's dialects, where the configuration names it; else the host decides (`dialectOf`). */
  readonly dialect?: string | undefined;
  /** Betas of the vendor that callers may turn on; undefined leaves it to the adaptor. */
  readonly betas?: readonly string[] | undefined;
  /** Callers may use what the vendor runs, reads or fetches by itself, which is not in the price of tokens. */
  readonly serverTools?: boolean | undefined;
  /** How long the upstream may be silent: until its headers, and between two pieces of its body. */
  readonly timeoutMs: number;
  /** Aborted when the caller leaves or the attempt is given up. */
  readonly signal: AbortSignal;
  readonly pools: UpstreamPools;
  /** What calls are steps of, where the trace is sampled. */
  readonly span?: Span | undefined;
}

/** The whole body, at most UPSTREAM_RESPONSE_BYTES_MAX. */
export async function readBytes({ body }: Pick<UpstreamReply, 'body'>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > UPSTREAM_RESPONSE_BYTES_MAX) {
      throw new UpstreamError('garbled', 'the answer is too large', { isTooLarge: true });
    }
    pieces.push(piece);
  }
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
}

/** No text so short is deeper than any may be. */
const SCANNED_CHARS_MIN = 2 * JSON_DEPTH_MAX;

/**
 * Undefined for what is no JSON object. Throws UpstreamError('garbled') for what is deeper or larger than the bounds of a
 * caller's own JSON, before a tree is made of it: nothing that reads, prints or sends it further has to fear its shape.
 */
export function parseObject(text: string, valuesMax?: number): JsonObject | undefined {
  try {
    if (text.length > SCANNED_CHARS_MIN) scanJson(text, valuesMax);
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof JsonError) throw new UpstreamError('garbled', `an answer out of bounds: ${error.message}`);
    return undefined;
  }
}

const open = buildConnector({ timeout: UPSTREAM_CONNECT_TIMEOUT_MS });

const connect: buildConnector.connector = (options, callback) =>
  open(options, (...opened) => {
    const [error, socket] = opened;
    if (error === null) boundReads(socket);
    callback(...opened);
  });

/** Where an address leads: the connections, and what stands before every path. */
interface Place {
  readonly pool: Pool;
  readonly path: string;
}

/**
 * What calls share for the life of the process: connections kept open to each upstream origin, bounded, the tokens of
 * clouds, and the identities that a cloud gave to the process.
 */
export class UpstreamPools {
  readonly tokens = new TokenCache();
  readonly cloud: CloudSettings;
  readonly #pools = new Map<string, Pool>();
  readonly #places = new Map<string, Place>();

  constructor(cloud: CloudSettings = NO_CLOUD) {
    this.cloud = cloud;
  }

  /** `address` is one of the configuration's, of which there are few. */
  at(address: string): Place {
    let place = this.#places.get(address);
    if (place === undefined) {
      const { origin, pathname } = new URL(address);
      place = { pool: this.#of(origin), path: pathname.replace(/\/$/, '') };
      this.#places.set(address, place);
    }
    return place;
  }

  #of(origin: string): Pool {
    let pool = this.#pools.get(origin);
    if (pool === undefined) {
      pool = new Pool(origin, {
        connections: UPSTREAM_CONNECTIONS_MAX,
        pipelining: 1,
        connect,
      });
      this.#pools.set(origin, pool);
    }
    return pool;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }
}
