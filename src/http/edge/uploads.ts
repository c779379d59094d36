import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../clock.ts';
import type { ErrorCode } from '../../errors.ts';
import { UPLOAD_GRACE_MS, UPLOADS_CHECK_MS, UPLOADS_PER_ACCOUNT_MAX, UPLOADS_PER_ADDRESS_MAX } from '../../limits.ts';
import type { ClientAddress } from './client-address.ts';
import { refuseInTurn } from './refuse.ts';
import { UploadPace } from './upload-pace.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Why its body was not waited for. */
    givenUpFor?: ErrorCode;
  }
}

interface Upload {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly startedMs: number;
  readonly pace: UploadPace;
}

/**
 * Bodies on their way. One that comes too slowly is given up, and so is one that is neither short nor among the first of
 * its address or account: each holds a connection and the caller's slot for as long as it likes otherwise.
 */
export class Uploads {
  readonly #clock: Clock;
  readonly #addressOf: ClientAddress;
  /** In the order in which they began. */
  readonly #open = new Map<FastifyRequest, Upload>();

  constructor(clock: Clock, addressOf: ClientAddress) {
    this.#clock = clock;
    this.#addressOf = addressOf;
    setInterval(() => this.#check(), UPLOADS_CHECK_MS).unref();
  }

  enter(request: FastifyRequest, reply: FastifyReply): void {
    const { headers, socket } = request.raw;
    if (headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0') return;
    const startedMs = this.#clock.nowMs();
    this.#open.set(request, { request, reply, startedMs, pace: new UploadPace(startedMs, socket.bytesRead) });
  }

  /** The answer has ended. What of the body is still to come is only thrown away, but it keeps the connection. */
  leave(request: FastifyRequest): void {
    if (hasEnded(request)) this.#open.delete(request);
  }

  #check(): void {
    const nowMs = this.#clock.nowMs();
    const counts = new Map<string, number>();
    for (const upload of this.#open.values()) {
      const { request } = upload;
      const code = hasEnded(request) ? undefined : this.#problemOf(upload, nowMs, counts);
      if (code !== undefined) giveUp(upload, code);
      if (code !== undefined || hasEnded(request)) this.#open.delete(request);
    }
  }

  #problemOf({ request, startedMs, pace }: Upload, nowMs: number, counts: Map<string, number>): ErrorCode | undefined {
    const { raw, caller } = request;
    // What has come and was not taken yet is no fault of the sender's.
    if (pace.isTooSlow(nowMs, raw.socket.bytesRead, raw.readableLength > 0)) return 'request_header_timeout';
    if (nowMs - startedMs < UPLOAD_GRACE_MS) return undefined;
    const ofAddress = addOne(counts, `address ${this.#addressOf(raw)}`);
    const ofAccount = caller === undefined ? 0 : addOne(counts, `account ${caller.accountId}`);
    const isTooMany = ofAddress > UPLOADS_PER_ADDRESS_MAX || ofAccount > UPLOADS_PER_ACCOUNT_MAX;
    return isTooMany ? 'too_many_concurrent_requests' : undefined;
  }
}

function hasEnded({ raw }: FastifyRequest): boolean {
  return raw.complete || raw.socket.destroyed;
}

function giveUp({ request, reply }: Upload, code: ErrorCode): void {
  request.givenUpFor = code;
  if (reply.raw.writableEnded) request.raw.socket.destroy();
  else refuseInTurn(request.raw.socket, code);
}

function addOne(counts: Map<string, number>, subject: string): number {
  const count = (counts.get(subject) ?? 0) + 1;
  counts.set(subject, count);
  return count;
}
