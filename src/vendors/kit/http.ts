import { Pool } from 'undici';
import { type Fault, UpstreamError } from '../../errors.ts';
import { JsonError, type JsonObject } from '../../json.ts';
import { scanJson } from '../../json-scan.ts';
import {
  JSON_DEPTH_MAX,
  UPSTREAM_CONNECT_TIMEOUT_MS,
  UPSTREAM_CONNECTIONS_MAX,
  UPSTREAM_ERROR_BYTES_MAX,
  UPSTREAM_RESPONSE_BYTES_MAX,
} from '../../limits.ts';
import { type Exchanged, exchange, type StreamedBody } from './exchange.ts';
import { isObject } from './json.ts';

/** One configured account at a vendor, for one attempt: address, secret, time limit, and when to give up. */
export interface Upstream {
  /** The model's name on the vendor's wire. */
  readonly model: string;
  /** Without a trailing slash; '' for a vendor inside this process. */
  readonly address: string;
  readonly apiKey: string;
  /** How long the upstream may be silent: until its headers, and between two pieces of its body. */
  readonly timeoutMs: number;
  /** Aborted when the caller leaves or the attempt is given up. */
  readonly signal: AbortSignal;
  readonly pools: UpstreamPools;
}

/** What is sent. The vendor has set its content type. */
export interface UpstreamCall {
  readonly method: 'GET' | 'POST';
  /** Behind the upstream's address, with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | StreamedBody;
  /** The statuses that are no refusal of the call; 200 alone where none are named. */
  readonly accepts?: readonly number[];
}

export interface UpstreamReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Ends with UpstreamError if the upstream stops in the middle. */
  readonly body: AsyncIterable<Buffer>;
}

/** Reads a vendor's refusal. `body` is its JSON if it was any. */
export interface RefusalReader {
  /** Undefined leaves it to the status. */
  faultOf?(status: number, body: JsonObject | undefined): Fault | undefined;
  /** How long to stay away, where the body says so; a header that says it comes first. */
  retryAfterMs?(body: JsonObject): number | undefined;
}

const SUCCESS: readonly number[] = [200];

/** Sends and resolves at the upstream's success. Throws UpstreamError for everything else. */
export async function send(upstream: Upstream, call: UpstreamCall, reader: RefusalReader = {}): Promise<UpstreamReply> {
  const { pool, path } = upstream.pools.at(upstream.address);
  const reply = await exchange(pool, {
    method: call.method,
    path: path + call.path,
    headers: call.headers,
    body: call.body ?? null,
    signal: upstream.signal,
    timeoutMs: upstream.timeoutMs,
  });
  if ((call.accepts ?? SUCCESS).includes(reply.status)) return reply;
  throw await refusal(reply, reader);
}

/** The whole body, at most UPSTREAM_RESPONSE_BYTES_MAX. */
export async function readBytes({ body }: UpstreamReply): Promise<Buffer> {
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

/** A JSON object, or UpstreamError('garbled'). */
export async function readJson(reply: UpstreamReply): Promise<JsonObject> {
  const value = parseObject((await readBytes(reply)).toString('utf8'));
  if (value === undefined) throw new UpstreamError('garbled', 'the answer is not a JSON object');
  return value;
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

async function refusal({ status, headers, body }: Exchanged, reader: RefusalReader): Promise<UpstreamError> {
  const text = await startOf(body);
  const told = parseRefusal(text);
  const fault = reader.faultOf?.(status, told) ?? faultOfStatus(status);
  const retryAfterMs = retryAfterIn(headers) ?? (told && reader.retryAfterMs?.(told));
  // A success of another kind than was asked for is no refusal.
  return new UpstreamError(fault, `status ${status}: ${text}`, { retryAfterMs, isUncertain: status < 300 });
}

/** What it says is only a hint, however it is shaped. */
function parseRefusal(text: string): JsonObject | undefined {
  try {
    return parseObject(text);
  } catch {
    return undefined;
  }
}

/** A refusal's text is for the log; a long one, or one that breaks off, is cut. */
async function startOf(body: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  try {
    for await (const chunk of body) {
      text += chunk.toString('utf8');
      if (text.length > UPSTREAM_ERROR_BYTES_MAX) break;
    }
  } catch {
    // The status has been told already.
  }
  return text.slice(0, UPSTREAM_ERROR_BYTES_MAX);
}

function faultOfStatus(status: number): Fault {
  if (status === 400 || status === 422) return 'client';
  // A limit on size or format is the upstream's own; the next one may have another.
  if (status === 413 || status === 415) return 'unfit';
  if (status === 401 || status === 402 || status === 403) return 'account';
  if (status === 404) return 'config';
  if (status === 429) return 'rate';
  return status >= 500 ? 'server' : 'garbled';
}

/** Some servers say it in milliseconds as well, and then more exactly. */
function retryAfterIn(headers: Exchanged['headers']): number | undefined {
  return numberIn(headers['retry-after-ms'], 1) ?? numberIn(headers['retry-after'], 1000);
}

function numberIn(header: string | string[] | undefined, unitMs: number): number | undefined {
  const text = String(header ?? '');
  return /^\d{1,9}(\.\d+)?$/.test(text) ? Number(text) * unitMs : undefined;
}

/** Where an address leads: the connections, and what stands before every path. */
interface Place {
  readonly pool: Pool;
  readonly path: string;
}

/** Connections kept open to each upstream origin, bounded, for the life of the process. */
export class UpstreamPools {
  readonly #pools = new Map<string, Pool>();
  readonly #places = new Map<string, Place>();

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
        connect: { timeout: UPSTREAM_CONNECT_TIMEOUT_MS },
      });
      this.#pools.set(origin, pool);
    }
    return pool;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }
}
