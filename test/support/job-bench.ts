import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach } from 'node:test';
import { pino } from 'pino';
import { request } from 'undici';
import type { Recorded } from '../../src/vendors/emulator/recording-server.ts';
import { ManualClock } from './clock.ts';
import { createDatabase, type TestDatabase } from './database.ts';
import type { Fields } from './documents.ts';
import { Gateway, type NewCaller } from './gateway.ts';
import { type Money, moneyOf, paidCaller } from './paid-calls.ts';
import { until } from './postgres.ts';

export const UNTOUCHED: Money = { available: 1000, reserved: 0, spent: 0 };

/** A kind of job at one vendor, as it is asked for and paid. */
export interface BenchKind {
  readonly model: string;
  readonly path: string;
  readonly upstreamModel: string;
  /** Its name at the second upstream, where that is another vendor's. */
  readonly spareModel?: string;
  readonly body: Fields;
  readonly price: number;
  readonly written: (id: string, routes: readonly Fields[]) => Fields;
}

export interface BenchEmulator {
  readonly url: string;
  readonly requests: readonly Recorded[];
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** One of the two upstreams of a bench. */
interface BenchUpstream<Emulator> {
  readonly vendor: string;
  readonly emulator: () => Emulator;
  /** Of the upstream, beside its address: the key at least. */
  readonly upstream: Fields;
}

interface BenchRules<Emulator, Spare> extends BenchUpstream<Emulator> {
  readonly kinds: readonly BenchKind[];
  /** The second upstream, where it is another vendor's. */
  readonly spare?: BenchUpstream<Spare>;
}

/** A bench for the tests of a file: each has new emulators and a new caller, and the books balance after it. */
export function openBench<Emulator extends BenchEmulator, Spare extends BenchEmulator = Emulator>(
  rules: BenchRules<Emulator, Spare>,
): JobBench<Emulator, Spare> {
  const bench = new JobBench(rules);
  before(() => bench.start());
  after(() => bench.stop());
  beforeEach(() => bench.begin());
  afterEach(() => bench.finish());
  return bench;
}

/** A vendor in the whole program: a gateway with two upstreams of it, the first one preferred, and a caller with 1000 credits. */
export class JobBench<Emulator extends BenchEmulator, Spare extends BenchEmulator = Emulator> {
  readonly lines: string[] = [];
  /** One for all processes: with a clock that runs behind, the leases of the last one would not end. */
  readonly #clock = new ManualClock();
  readonly #rules: BenchRules<Emulator, Spare>;
  #database: TestDatabase | undefined;
  #gateway: Gateway | undefined;
  #emulators: readonly [Emulator, Emulator | Spare] | undefined;
  #caller: NewCaller | undefined;

  constructor(rules: BenchRules<Emulator, Spare>) {
    this.#rules = rules;
  }

  get vendor(): string {
    return this.#rules.vendor;
  }

  get gateway(): Gateway {
    return this.#gateway ?? assert.fail('the bench has not been started');
  }

  get caller(): NewCaller {
    return this.#caller ?? assert.fail('no test has begun');
  }

  get first(): Emulator {
    return this.#emulators?.[0] ?? assert.fail('no test has begun');
  }

  get second(): Emulator | Spare {
    return this.#emulators?.[1] ?? assert.fail('no test has begun');
  }

  async start(): Promise<void> {
    this.#database = await createDatabase();
    await this.#open();
  }

  /** Ends the process, at once and in the middle of whatever it does, and begins another on the same database. */
  async restart(): Promise<void> {
    await this.gateway.stop(0);
    await this.#open();
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    await this.#database?.drop();
  }

  async begin(): Promise<void> {
    const { emulator, spare } = this.#rules;
    this.lines.length = 0;
    this.#emulators = [emulator(), spare?.emulator() ?? emulator()];
    await Promise.all(this.#emulators.map((each) => each.start()));
    await this.configure();
    this.#caller = await paidCaller(this.gateway);
  }

  /** `changes` are fields of both upstreams. */
  async configure(changes: Fields = {}): Promise<void> {
    const { kinds, spare, ...main } = this.#rules;
    const sides = [
      { ...main, url: this.first.url },
      { ...(spare ?? main), url: this.second.url },
    ];
    const upstreams = sides.map(({ vendor, upstream, url }, at) => {
      const usual = { id: `${vendor}-${at}`, vendor, base_url: url, priority: 9 - at, timeout_seconds: 60 };
      return { ...usual, ...upstream, ...changes };
    });
    const models = kinds.map(({ model, upstreamModel, spareModel = upstreamModel, written }) => {
      const names = [upstreamModel, spareModel];
      return written(
        model,
        upstreams.map(({ id }, at) => ({ upstream: id, model: names[at] })),
      );
    });
    await this.gateway.putConfig({ upstreams, models });
  }

  async finish(): Promise<void> {
    await this.gateway.assertBooksBalance();
    await Promise.all((this.#emulators ?? []).map((each) => each.stop()));
  }

  ask({ model, path, body }: BenchKind, fields: Fields = {}) {
    return this.gateway.call('POST', path, { key: this.caller.key, body: { model, ...body, ...fields } });
  }

  async create(kind: BenchKind, fields: Fields = {}): Promise<string> {
    const answer = await this.ask(kind, fields);
    assert.equal(answer.status, 202, answer.text);
    return answer.json.id;
  }

  async read(id: string) {
    return (await this.gateway.call('GET', `/v1/jobs/${id}`, { key: this.caller.key })).json;
  }

  /** Lets time pass until the job is over. */
  async ended(id: string) {
    await until(async () => {
      this.gateway.clock.advance(1);
      return !['queued', 'running'].includes((await this.read(id)).status);
    });
    return this.read(id);
  }

  async made(kind: BenchKind, fields: Fields = {}) {
    const job = await this.ended(await this.create(kind, fields));
    assert.equal(job.status, 'succeeded', JSON.stringify(job));
    return job;
  }

  /** It has failed at the first upstream, was asked for nowhere else, and costs nothing. */
  async assertFailed(id: string, code: string): Promise<void> {
    const job = await this.ended(id);
    assert.deepEqual([job.status, job.error_code], ['failed', code], JSON.stringify(job));
    assert.deepEqual([this.submitted(), await this.money()], [[1, 0], UNTOUCHED]);
  }

  async delivered(id: string): Promise<Buffer[]> {
    const { items } = (await this.gateway.call('GET', `/v1/jobs/${id}/assets`, { key: this.caller.key })).json;
    return Promise.all(
      items.map(async ({ url }: { url: string }) => {
        const { pathname, search } = new URL(url);
        const { body } = await request(this.gateway.url + pathname + search);
        return Buffer.from(await body.arrayBuffer());
      }),
    );
  }

  /** Requests for work at the first and the second upstream, refused ones too. */
  submitted(): [number, number] {
    const posts = ({ requests }: BenchEmulator) => requests.filter(({ method }) => method === 'POST').length;
    return [posts(this.first), posts(this.second)];
  }

  money(): Promise<Money> {
    return moneyOf(this.gateway, this.caller);
  }

  paid({ price }: BenchKind, times = 1): Money {
    return { available: 1000 - times * price, reserved: 0, spent: times * price };
  }

  /** What the upstreams said that they counted, from the log. */
  get usages(): unknown[] {
    const parsed = this.lines.map((line) => JSON.parse(line));
    return parsed.filter(({ msg }) => msg === 'usage of a job').map(({ upstream, usage }) => [upstream, usage]);
  }

  async #open(): Promise<void> {
    const log = pino({ level: 'info' }, { write: (line: string) => void this.lines.push(line) });
    const database = this.#database ?? assert.fail('the bench has not been started');
    const settings = { TOLLGATE_FETCH_ALLOW: '127.0.0.1' };
    this.#gateway = await Gateway.start({ database, log, clock: this.#clock, settings });
  }
}
