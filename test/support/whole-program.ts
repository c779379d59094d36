import assert from 'node:assert/strict';
import { Agent } from 'undici';
import { openDb, type PooledDb } from '../../src/db/index.ts';
import type { Results } from '../../src/vendors/emulator/contract.ts';
import { vendors } from '../../src/vendors/index.ts';
import { acme } from './acme/index.ts';
import { TRANSCRIPTIONS } from './booth.ts';
import { ManualClock } from './clock.ts';
import { createDatabase, silentLog, type TestDatabase } from './database.ts';
import type { Fields } from './documents.ts';
import { FaultyProxy } from './faulty-proxy.ts';
import { type Answer, Gateway, type NewCaller } from './gateway.ts';
import { clip, picture, toneAs } from './media-samples.ts';
import { type Money, moneyOf, paidCaller } from './paid-calls.ts';
import { until } from './postgres.ts';
import { callOf, isJob, isTask, modelOf, type WholeWork } from './whole-works.ts';

const KEY = 'key-of-the-operator';
/** How far the clock is moved at a time while something is waited for. */
const STEP_SECONDS = 0.25;
const OPEN = ['queued', 'running'];

const RESULTS: Results = {
  picture: await picture('jpeg', { width: 64, height: 64 }),
  clip: await clip({ seconds: 1, framesPerSecond: 4 }),
  sound: await toneAs('mp3', { seconds: 1 }),
  wave: await toneAs('wav', { seconds: 0.5, sampleRate: 24_000 }),
};

/** The whole program with every vendor, and for each kind of work two upstreams of it, the first one preferred. */
export class WholeProgram {
  /** One for all processes: with a clock that runs behind, the leases of the last one would not end. */
  readonly #clock = new ManualClock();
  #database: TestDatabase | undefined;
  #db: PooledDb | undefined;
  #gateway: Gateway | undefined;
  #agent = new Agent();
  #trials: ReadonlyMap<WholeWork, Trial> = new Map();
  #reading: Promise<ReadonlySet<string>> | undefined;

  get gateway(): Gateway {
    return this.#gateway ?? assert.fail('the program has not been started');
  }

  async start(): Promise<void> {
    this.#database = await createDatabase();
    this.#db = openDb(this.#database.address, silentLog);
    await this.#open();
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    await this.#db?.close();
    await this.#agent.close();
    await this.#database?.drop();
  }

  /** New upstreams for each work, so that no breaker remembers an earlier outcome. `fields` are those of the first. */
  async begin(outcome: string, works: readonly WholeWork[], fields: Fields = {}): Promise<void> {
    const trials = works.map((work, at) => new Trial(this, work, `${outcome}-${at}`, this.#agent));
    await Promise.all(trials.map((trial) => trial.start()));
    await this.gateway.putConfig({
      upstreams: trials.flatMap((trial) => trial.upstreams(fields)),
      models: trials.map((trial) => trial.model()),
    });
    this.#trials = new Map(trials.map((trial) => [trial.work, trial]));
  }

  async end(): Promise<void> {
    await Promise.all([...this.#trials.values()].map((trial) => trial.stop()));
  }

  /**
   * Asks for every work, ends the process when each is at its upstream, accepted and without a result, and begins another
   * on the same database.
   */
  async interrupt(works: readonly WholeWork[]): Promise<void> {
    for (const work of works) await this.trial(work).leaveRunning();
    const tasks = works.filter(isTask).length;
    await until(async () => (await this.#savedTasks()) === tasks);
    await this.gateway.stop(0);
    await this.#open();
    for (const trial of this.#trials.values()) trial.first.release();
  }

  /** Tasks that a process could poll which begins now. */
  async #savedTasks(): Promise<number> {
    const upstreams = [...this.#trials.values()].map(({ firstId }) => firstId);
    const [row] = await this.rows<{ count: number }>(
      `select (select count(*) from job_attempts where state = 'accepted' and upstream_id = any ($1))::int
         + (select count(*) from transcriptions where task is not null and upstream_id = any ($1))::int as count`,
      [upstreams],
    );
    return row?.count ?? 0;
  }

  trial(work: WholeWork): Trial {
    return this.#trials.get(work) ?? assert.fail(`${work.name} is not under trial`);
  }

  rows<Row extends object>(sql: string, values: unknown[]): Promise<readonly Row[]> {
    return this.#db?.rows<Row>(sql, values) ?? assert.fail('the program has not been started');
  }

  /** Lets time pass until there is an answer. */
  async answered<Result>(work: Promise<Result>): Promise<Result> {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    work.then(end, end);
    await until(async () => {
      if (!isOver) await this.openJobs();
      return isOver;
    });
    return work;
  }

  /** The jobs that are not over, a step later. All that wait share one look. */
  openJobs(): Promise<ReadonlySet<string>> {
    this.#reading ??= this.#look().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #look(): Promise<ReadonlySet<string>> {
    this.#clock.advance(STEP_SECONDS);
    const rows = await this.rows<{ id: string }>('select job_id as id from open_jobs', []);
    return new Set(rows.map(({ id }) => id));
  }

  async #open(): Promise<void> {
    const database = this.#database ?? assert.fail('there is no database');
    const settings = { TOLLGATE_FETCH_ALLOW: '127.0.0.1' };
    this.#gateway = await Gateway.start({ database, clock: this.#clock, settings, vendors: [...vendors, acme] });
  }
}

/** One kind of work of one vendor: its two upstreams, and a caller with 1000 credits. */
class Trial {
  readonly work: WholeWork;
  readonly first: FaultyProxy;
  readonly second: FaultyProxy;
  readonly #program: WholeProgram;
  readonly #id: string;
  #caller: NewCaller | undefined;
  #pending: Promise<Answer> | undefined;

  constructor(program: WholeProgram, work: WholeWork, id: string, agent: Agent) {
    const { contract, offered } = work;
    const proxy = () => new FaultyProxy(contract.emulator(KEY, RESULTS, offered.kind), agent, offered.submission);
    [this.first, this.second] = [proxy(), proxy()];
    this.work = work;
    this.#program = program;
    this.#id = id;
  }

  get caller(): NewCaller {
    return this.#caller ?? assert.fail('nothing has been asked for');
  }

  get firstId(): string {
    return `${this.#id}-0`;
  }

  async start(): Promise<void> {
    await Promise.all([this.first.start(), this.second.start()]);
  }

  async stop(): Promise<void> {
    await Promise.all([this.first.stop(), this.second.stop()]);
  }

  upstreams(ofFirst: Fields): Fields[] {
    const { vendor, offered } = this.work;
    return [this.first, this.second].map(({ url }, at) => ({
      id: `${this.#id}-${at}`,
      vendor: vendor.name,
      base_url: url,
      api_key: KEY,
      priority: 9 - at,
      timeout_seconds: 60,
      ...offered.upstream,
      ...(at === 0 && ofFirst),
    }));
  }

  model(): Fields {
    return modelOf(this.work, `house/${this.#id}`, [`${this.#id}-0`, `${this.#id}-1`]);
  }

  async ask(): Promise<Answer> {
    const { gateway } = this.#program;
    this.#caller ??= await paidCaller(gateway);
    const [path, options] = callOf(this.work, `house/${this.#id}`);
    return gateway.call('POST', path, { key: this.caller.key, ...options });
  }

  async read(path: string): Promise<Answer['json']> {
    return (await this.#program.gateway.call('GET', path, { key: this.caller.key })).json;
  }

  /** Asks, and returns when the first upstream has accepted the work, whose result it keeps back. */
  async leaveRunning(): Promise<void> {
    this.first.hold(isTask(this.work) ? 'polls' : 'answers');
    this.#pending = this.ask();
    this.#pending.catch(() => undefined);
    await until(() => this.first.accepted === 1);
  }

  /** What became of that in the process after. */
  async resumed(): Promise<'made' | 'not made'> {
    const answer = await this.#pending?.catch(() => undefined);
    if (isJob(this.work)) {
      const { status } = await this.ended(answer?.json.id);
      return status === 'succeeded' ? 'made' : 'not made';
    }
    assert.notEqual(answer?.status, 200);
    return this.work.offered.kind === 'transcription' ? this.#transcribed() : 'not made';
  }

  async #transcribed(): Promise<'made' | 'not made'> {
    const sql = 'select id from transcriptions where account_id = $1';
    const [{ id } = assert.fail('there is no record')] = await this.#program.rows<{ id: string }>(sql, [
      this.caller.accountId,
    ]);
    let status = '';
    await until(async () => {
      await this.#program.openJobs();
      ({ status } = await this.read(`${TRANSCRIPTIONS}/${id}`));
      return status === 'completed' || status === 'unavailable';
    });
    return status === 'completed' ? 'made' : 'not made';
  }

  /** Lets time pass until the job is over. */
  async ended(id: string): Promise<Answer['json']> {
    let job: Answer['json'];
    await until(async () => {
      if ((await this.#program.openJobs()).has(id)) return false;
      job = await this.read(`/v1/jobs/${id}`);
      return !OPEN.includes(job.status);
    });
    return job;
  }

  /** Submissions at the first and the second upstream. */
  get submissions(): readonly [number, number] {
    return [this.first.submissions, this.second.submissions];
  }

  /** Once nothing is reserved any more: a stream is settled right behind its last byte. */
  async money(): Promise<Money> {
    let money: Money | undefined;
    await until(async () => {
      money = await moneyOf(this.#program.gateway, this.caller);
      if (money.reserved > 0) await this.#program.openJobs();
      return money.reserved === 0;
    });
    return money ?? assert.fail();
  }
}
