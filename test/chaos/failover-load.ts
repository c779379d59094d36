// Callers of a deployment whose database fails over, and what each was told: chat calls, whole and streamed, jobs, grants.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Gateway, NewCaller } from '../support/gateway.ts';

/** What a client does after a 503, which asks for as much. */
const AGAIN_MS = 25;
const AT_ONCE = { chat: 6, stream: 3, job: 3, grant: 2 };
/** The last frame of a stream that came to its end. */
const STREAM_END = 'data: [DONE]';

export type Kind = keyof typeof AT_ONCE;
export const KINDS = Object.keys(AT_ONCE) as readonly Kind[];

/** One piece of work as its client knows it. */
export interface Order {
  readonly kind: Kind;
  /** Unique: a prompt, an idempotency key, a reference. */
  readonly name: string;
  /** What was told when it worked: the request of a call, the job, nothing of a grant. */
  readonly ids: string[];
  /** Answers in their order. */
  readonly statuses: number[];
  /** When it was first told that it worked. */
  doneAtMs: number | undefined;
}

export class Callers {
  readonly orders: Order[] = [];
  readonly #gateways: readonly Gateway[];
  readonly #caller: NewCaller;
  #isOver = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(gateways: readonly Gateway[], caller: NewCaller) {
    this.#gateways = gateways;
    this.#caller = caller;
  }

  start(): void {
    this.#running = Promise.all(
      KINDS.flatMap((kind) => Array.from({ length: AT_ONCE[kind] }, (_, lane) => this.#loop(kind, lane))),
    );
  }

  /** Resolves when every client has been told how its last order ended. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  /** Of each kind: how many have worked since then. */
  doneSince(sinceMs: number): Record<Kind, number> {
    const count = (kind: Kind) =>
      this.orders.filter((order) => order.kind === kind && (order.doneAtMs ?? 0) > sinceMs).length;
    return { chat: count('chat'), stream: count('stream'), job: count('job'), grant: count('grant') };
  }

  firstDoneSince(kind: Kind, sinceMs: number): number {
    const times = this.orders.filter((order) => order.kind === kind).map(({ doneAtMs }) => doneAtMs ?? 0);
    return Math.min(...times.filter((doneAtMs) => doneAtMs > sinceMs));
  }

  get refusals(): number {
    return this.orders.reduce((sum, { statuses }) => sum + statuses.filter((status) => status === 503).length, 0);
  }

  async #loop(kind: Kind, lane: number): Promise<void> {
    for (let number = 0; !this.#isOver; number++) {
      const gateway = this.#gateways[(lane + number) % this.#gateways.length];
      if (gateway === undefined) return;
      const order: Order = { kind, name: `${kind}-${lane}-${number}`, ids: [], statuses: [], doneAtMs: undefined };
      this.orders.push(order);
      if (kind === 'chat' || kind === 'stream') await this.#chat(gateway, order);
      else await this.#until(gateway, order);
      if (order.doneAtMs === undefined) await sleep(AGAIN_MS);
    }
  }

  /** Sent once: a chat call has no key by which it could be repeated. */
  async #chat(gateway: Gateway, order: Order): Promise<void> {
    const isStream = order.kind === 'stream';
    const body = { model: 'failover/chat', messages: [{ role: 'user', content: order.name }], stream: isStream };
    const answer = await gateway.call('POST', '/v1/chat/completions', { key: this.#caller.key, body });
    order.statuses.push(answer.status);
    order.ids.push(answer.headers['x-request-id'] ?? '');
    const isWhole = !isStream || answer.text.trimEnd().endsWith(STREAM_END);
    if (answer.status === 200 && isWhole) order.doneAtMs = performance.now();
  }

  /** Repeated under the same key or reference until it is told that it is done. */
  async #until(gateway: Gateway, order: Order): Promise<void> {
    for (;;) {
      const answer = order.kind === 'job' ? await this.#create(gateway, order) : await this.#give(gateway, order);
      order.statuses.push(answer.status);
      if (answer.status === 202) order.ids.push(answer.json.id);
      const isDone = [200, 202, 409].includes(answer.status);
      if (isDone) order.doneAtMs = performance.now();
      if (isDone || answer.status < 500) return;
      await sleep(AGAIN_MS);
    }
  }

  #create(gateway: Gateway, { name }: Order) {
    const headers = { 'idempotency-key': name };
    const body = { model: 'failover/photo', prompt: name };
    return gateway.call('POST', '/v1/images/generations', { key: this.#caller.key, headers, body });
  }

  #give(gateway: Gateway, { name }: Order) {
    return gateway.admin('POST', `/accounts/${this.#caller.accountId}/grants`, { credits: 1, reference: name });
  }
}
