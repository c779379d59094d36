import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Recorded } from '../../src/vendors/emulator/recording-server.ts';
import type { ScriptedServer } from '../../src/vendors/emulator/scripted-server.ts';
import type { Fields } from './documents.ts';
import { ADMIN_TOKEN } from './gateway.ts';
import { type BenchEmulator, type BenchKind, type JobBench, UNTOUCHED } from './job-bench.ts';
import { until } from './postgres.ts';
import { upstreamHealth } from './upstream-health.ts';

interface JobEmulator extends ScriptedServer {
  sent(method: string, path?: RegExp): Recorded[];
  /** Where results are links. */
  areLinksDead?: boolean;
  /** How often a task is running before it is done, where there are tasks. */
  readsUntilDone?: number;
}

/** A kind of job, and how it differs from others in the tests that all have. */
export interface JobCase<Emulator> extends BenchKind {
  readonly result: Buffer;
  /** What the upstream says that it counted. */
  readonly usage?: Fields;
  /** A field that the model does not take. */
  readonly unsupported: Fields;
  /** Each way in which the vendor's rules stop a job: prepares it, and returns the fields of the request. */
  readonly policy: Readonly<Record<string, (emulator: Emulator) => Fields>>;
}

interface SuiteRules<Emulator> {
  /** What no log holds. */
  readonly key: string;
  /** What no caller may read. */
  readonly secrets: RegExp;
  /** Paths of results at the vendor, and the header that would carry the key there. */
  readonly files: RegExp;
  readonly keyHeader?: string;
  /** How the vendor tells that an account is empty. */
  readonly emptyTold: string;
  readonly empty: (emulator: Emulator) => void;
  readonly throttle: (emulator: Emulator) => void;
  /** Whether a submission without an answer can be found again. */
  readonly adopts: boolean;
  /** Looks at the upstream when a second process has asked after a task, for that many seconds, until it was over. */
  readonly afterRestart?: (emulator: Emulator, seconds: number) => void;
}

/** What holds for the jobs of any vendor. Each method declares tests. */
export class JobSuite<Emulator extends JobEmulator, Spare extends BenchEmulator = Emulator> {
  readonly #bench: JobBench<Emulator, Spare>;
  readonly #rules: SuiteRules<Emulator>;

  constructor(bench: JobBench<Emulator, Spare>, rules: SuiteRules<Emulator>) {
    this.#bench = bench;
    this.#rules = rules;
  }

  testAll(kind: JobCase<Emulator>): void {
    this.testDelivery(kind);
    this.testWithinCall(kind);
    this.testRestart(kind);
  }

  /** What holds also where the work is done within the call, and no task outlives a process. */
  testWithinCall(kind: JobCase<Emulator>): void {
    this.testUnsupported(kind);
    this.testEmptyAccount(kind);
    this.testThrottle(kind);
    this.testLostAnswers(kind);
    this.testPolicy(kind);
    this.testUnanswered(kind);
  }

  testDelivery(kind: JobCase<Emulator>): void {
    const { files, keyHeader = 'authorization', key, secrets } = this.#rules;
    const bench = this.#bench;
    test(`${kind.model} is copied before its link dies, fetched without the key, charged once, and its usage logged`, async () => {
      const job = await bench.made(kind);
      bench.first.areLinksDead = true;
      assert.deepEqual(await bench.delivered(job.id), [kind.result]);
      const downloads = bench.first.sent('GET', files);
      assert.ok(downloads.length > 0, 'the result lies at the vendor');
      for (const { headers } of downloads) assert.equal(headers[keyHeader], undefined);
      const usages = kind.usage === undefined ? [] : [[`${bench.vendor}-0`, kind.usage]];
      assert.deepEqual([bench.usages, await bench.money()], [usages, bench.paid(kind)]);
      assert.doesNotMatch(JSON.stringify(job), secrets);
      for (const { path } of downloads) assert.ok(!JSON.stringify(job).includes(path));
      assert.ok(!bench.lines.join('').includes(key));
    });
  }

  testUnsupported(kind: JobCase<Emulator>): void {
    const bench = this.#bench;
    test(`${kind.model} with a field that it does not take is refused before anything is held`, async () => {
      const answer = await bench.ask(kind, kind.unsupported);
      assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
      assert.deepEqual([bench.first.requests.length, bench.second.requests.length], [0, 0]);
      assert.deepEqual(await bench.money(), UNTOUCHED);
    });
  }

  testEmptyAccount(kind: JobCase<Emulator>): void {
    const { empty, emptyTold } = this.#rules;
    const bench = this.#bench;
    test(`${kind.model} is made elsewhere when the account is out of money, told ${emptyTold}: it rests for longer than one request`, async () => {
      empty(bench.first);
      for (const _ of [1, 2]) await bench.made(kind);
      assert.deepEqual([bench.submitted(), await bench.money()], [[1, 2], bench.paid(kind, 2)]);
      const { whole } = await upstreamHealth(bench.gateway, `${bench.vendor}-0`);
      assert.equal(whole.state, 'open', JSON.stringify(whole));
    });
  }

  testThrottle(kind: JobCase<Emulator>): void {
    const bench = this.#bench;
    test(`${kind.model} is made elsewhere when the account is throttled`, async () => {
      this.#rules.throttle(bench.first);
      await bench.made(kind);
      assert.deepEqual([bench.submitted(), await bench.money()], [[1, 1], bench.paid(kind)]);
    });
  }

  testLostAnswers(kind: JobCase<Emulator>): void {
    const end = this.#rules.adopts ? 'is adopted' : 'has failed and costs nothing';
    for (const fault of ['reset', 'garbage', 'empty'] as const) {
      test(`R-517: ${kind.model} whose answer is lost after acceptance (${fault}) ${end}, and is not asked for twice`, async () => {
        this.#bench.first.script({ kind: 'fault', fault });
        await this.#endsWithoutAnswer(kind, await this.#bench.create(kind));
      });
    }
  }

  testPolicy(kind: JobCase<Emulator>): void {
    const bench = this.#bench;
    for (const [when, prepare] of Object.entries(kind.policy)) {
      test(`${kind.model} that breaks rules, told ${when}, costs nothing and goes nowhere else`, async () => {
        await bench.assertFailed(await bench.create(kind, prepare(bench.first)), 'content_rejected');
      });
    }
  }

  testRestart(kind: JobCase<Emulator>): void {
    const bench = this.#bench;
    test(`${kind.model} that a process had submitted is asked after by the next one`, async () => {
      bench.first.readsUntilDone = 3;
      const id = await bench.create(kind);
      await until(async () => (await bench.read(id)).status === 'running');
      await bench.restart();
      const begun = bench.gateway.clock.now().getTime();
      assert.equal((await bench.ended(id)).status, 'succeeded');
      this.#rules.afterRestart?.(bench.first, (bench.gateway.clock.now().getTime() - begun) / 1000);
      assert.deepEqual(await bench.delivered(id), [kind.result]);
      assert.deepEqual([bench.submitted(), await bench.money()], [[1, 0], bench.paid(kind)]);
    });
  }

  /** Of results that are links of the answer itself. `setLinks` takes them away and gives them back. */
  testFetchAfterRestart(kind: JobCase<Emulator>, setLinks: (emulator: Emulator, areDown: boolean) => void): void {
    const bench = this.#bench;
    test(`${kind.model} that a process was told of is fetched by the next one`, async () => {
      setLinks(bench.first, true);
      const id = await bench.create(kind);
      await until(() => bench.first.sent('GET', this.#rules.files).length > 0);
      await bench.restart();
      setLinks(bench.first, false);
      assert.equal((await bench.ended(id)).status, 'succeeded');
      assert.deepEqual(await bench.delivered(id), [kind.result]);
      assert.deepEqual([bench.submitted(), await bench.money()], [[1, 0], bench.paid(kind)]);
    });
  }

  testUnanswered(kind: JobCase<Emulator>): void {
    const end = this.#rules.adopts ? 'is adopted by the next one' : 'is given up, costs nothing';
    test(`${kind.model} whose submission a process got no answer to ${end}, and is never submitted twice`, async () => {
      this.#bench.first.script({ kind: 'fault', fault: 'silence' });
      const id = await this.#bench.create(kind);
      await until(() => this.#bench.submitted()[0] === 1);
      await this.#bench.restart();
      await this.#endsWithoutAnswer(kind, id);
    });
  }

  testExample(): void {
    const bench = this.#bench;
    test('the example that is shipped can be applied as it is', async () => {
      const text = readFileSync(new URL(`../../examples/${bench.vendor}.yaml`, import.meta.url), 'utf8');
      // A literal key, since the environment of a test has none.
      const raw = text.replaceAll(/\$\{\w+\}/g, 'a-literal-key');
      const headers = { 'content-type': 'application/yaml' };
      const answer = await bench.gateway.call('PUT', '/api/admin/config', { key: ADMIN_TOKEN, raw, headers });
      assert.equal(answer.status, 200, answer.text);
    });
  }

  async #endsWithoutAnswer(kind: JobCase<Emulator>, id: string): Promise<void> {
    const bench = this.#bench;
    if (!this.#rules.adopts) return bench.assertFailed(id, 'upstream_failed');
    const job = await bench.ended(id);
    assert.equal(job.status, 'succeeded', JSON.stringify(job));
    assert.deepEqual(await bench.delivered(id), [kind.result]);
    assert.deepEqual([bench.submitted(), await bench.money()], [[1, 0], bench.paid(kind)]);
  }
}
