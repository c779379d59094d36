import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { Script, ScriptedServer } from '../../src/vendors/emulator/scripted-server.ts';
import { CLIP, CLIP_PRICE, clipForm, SECOND_PRICE, TRANSCRIPTIONS } from './booth.ts';
import { createDatabase, type TestDatabase } from './database.ts';
import type { Fields } from './documents.ts';
import { type Answer, Gateway, type NewCaller } from './gateway.ts';
import { rowsOf } from './keeping.ts';
import { type Money, moneyOf, paidCaller } from './paid-calls.ts';
import { until } from './postgres.ts';
import { SPEECH } from './speech-studio.ts';
import { upstreamHealth } from './upstream-health.ts';

export const SPEECH_PRICE = 5;
const UNTOUCHED: Money = { available: 1000, reserved: 0, spent: 0 };

interface VoiceEmulator<ErrorName> extends ScriptedServer {
  isBroke: boolean;
  /** How often a task is read before it is done, where the vendor has tasks. */
  readsUntilDone?: number;
  readonly submissions: readonly unknown[];
  refuse(...errors: readonly ErrorName[]): void;
}

interface VoiceRules<ErrorName extends string, Emulator extends VoiceEmulator<ErrorName>> {
  readonly vendor: string;
  readonly apiKey: string;
  readonly emulator: () => Emulator;
  /** The upstream models of `studio/voice` and `studio/ears`, where the vendor has both kinds of work. */
  readonly speech?: string;
  readonly transcription?: string;
  /** Fields of every request for speech, such as a voice where there is none by default. */
  readonly speechFields?: Fields;
  /** More models of speech, with the upstream model that serves each. */
  readonly models?: readonly (Fields & { readonly upstreamModel: string })[];
  /** What no caller may read. */
  readonly secrets: RegExp;
  /** Refusals that are the caller's, and what it is told. */
  readonly final: readonly (readonly [error: ErrorName, code: string])[];
  /** Refusals after which another upstream is asked. */
  readonly passing: readonly ErrorName[];
}

const LOST: readonly (readonly [name: string, script: Script])[] = [
  ['an answer that is lost', { kind: 'fault', fault: 'reset' }],
  ['what is no HTTP', { kind: 'fault', fault: 'garbage' }],
  ['a garbled answer', { kind: 'instead', status: 200, headers: { 'content-type': 'application/json' }, body: '{"' }],
];

/** A vendor of speech, transcripts or both in the whole program: two upstreams of it, the first one preferred. */
export class VoiceBench<ErrorName extends string, Emulator extends VoiceEmulator<ErrorName>> {
  readonly #rules: VoiceRules<ErrorName, Emulator>;
  #database: TestDatabase | undefined;
  #gateway: Gateway | undefined;
  #emulators: readonly [Emulator, Emulator] | undefined;
  #caller: NewCaller | undefined;

  /** Each test has new emulators and a new caller with 1000 credits; the books balance after it. */
  constructor(rules: VoiceRules<ErrorName, Emulator>) {
    this.#rules = rules;
    before(async () => {
      this.#database = await createDatabase();
      await this.#open();
    });
    after(async () => {
      await this.gateway.stop();
      await this.#database?.drop();
    });
    beforeEach(() => this.#begin());
    afterEach(async () => {
      await this.gateway.assertBooksBalance();
      await Promise.all([this.first.stop(), this.second.stop()]);
    });
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

  get second(): Emulator {
    return this.#emulators?.[1] ?? assert.fail('no test has begun');
  }

  speak(fields: object = {}): Promise<Answer> {
    const body = { model: 'studio/voice', input: 'Hello there.', ...this.#rules.speechFields, ...fields };
    return this.gateway.call('POST', SPEECH, { key: this.caller.key, body });
  }

  hear(fields: Record<string, string> = {}): Promise<Answer> {
    const form = clipForm(CLIP, { model: 'studio/ears', ...fields });
    return this.gateway.call('POST', TRANSCRIPTIONS, { ...form, key: this.caller.key });
  }

  /** The same of a vendor that has tasks: lets time pass until there is an answer. */
  async hearByTask(fields: Record<string, string> = {}): Promise<Answer> {
    const pending = this.hear(fields);
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    pending.then(end, end);
    await until(() => {
      this.gateway.clock.advance(0.05);
      return isOver;
    });
    return pending;
  }

  money(): Promise<Money> {
    return moneyOf(this.gateway, this.caller);
  }

  /** Requests at the first and the second upstream. */
  counts(): [number, number] {
    return [this.first.requests.length, this.second.requests.length];
  }

  /** `unsupported` is a field that the vendor does not take, here and below. */
  testSpeech(unsupported: Fields): void {
    this.testKind('speech', (fields) => this.speak(fields), SPEECH_PRICE, unsupported);
  }

  /** For a vendor that transcribes within the call. */
  testTranscription(unsupported: Record<string, string>): void {
    this.testKind('transcription', (fields) => this.hear(fields), CLIP_PRICE, unsupported);
    test('a transcript with times has the vendor’s words and segments', async () => {
      const answer = await this.hear({ response_format: 'verbose_json', language: 'en' });
      assert.equal(answer.status, 200, answer.text);
      const { text, language, segments } = answer.json;
      assert.deepEqual([text, language, segments.length], ['Hello there. Hi.', 'en', 2]);
    });

    test('a transcript that was under way when the process ended has no task to ask after, and costs nothing', async () => {
      this.first.script({ kind: 'fault', fault: 'silence' });
      const id = await this.#interrupted();
      await this.#open();
      await this.#ended(id, 'unavailable');
      assert.deepEqual([this.counts(), await this.money()], [[1, 0], UNTOUCHED]);
    });
  }

  /** For a vendor that has to be asked after a task. */
  testTranscriptionTask(unsupported: Record<string, string>): void {
    this.testKind('transcription', (fields) => this.hearByTask(fields), CLIP_PRICE, unsupported);

    test('R-426: a task that outlives its process is followed by the next one to its end, and never submitted again', async () => {
      this.first.readsUntilDone = Number.POSITIVE_INFINITY;
      const id = await this.#interrupted('and task is not null');
      this.first.readsUntilDone = 0;
      await this.#open();
      const { settlement_state, result } = await this.#ended(id, 'completed');
      assert.deepEqual([settlement_state, result.text], ['settled', 'Hello there. Hi.']);
      assert.deepEqual([this.first.submissions.length, this.second.requests.length], [1, 0]);
      assert.deepEqual(await this.money(), paid(CLIP_PRICE));
    });
  }

  testKind<Given>(kind: string, ask: (fields?: Given) => Promise<Answer>, price: number, unsupported: Given): void {
    const { secrets, final, passing, vendor } = this.#rules;
    const madeBySecond = async () => {
      const answer = await ask();
      assert.equal(answer.status, 200, answer.text);
      assert.equal(this.second.submissions.length, 1);
      assert.deepEqual(await this.money(), paid(price));
    };
    describe(kind, () => {
      test('is made, charged once, and tells nothing of its upstream', async () => {
        const answer = await ask();
        assert.equal(answer.status, 200, answer.text);
        assert.doesNotMatch(JSON.stringify(answer.headers) + answer.text, secrets);
        assert.deepEqual([this.first.submissions.length, this.second.requests.length], [1, 0]);
        assert.deepEqual(await this.money(), paid(price));
      });

      test('a field that it does not take is refused before anything is held', async () => {
        const answer = await ask(unsupported);
        assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
        assert.deepEqual([this.counts(), await this.money()], [[0, 0], UNTOUCHED]);
      });

      for (const [error, code] of final) {
        test(`${error} is final and free of charge`, async () => {
          this.first.refuse(error);
          const answer = await ask();
          assert.deepEqual([answer.status, answer.json.error.code], [400, code], answer.text);
          assert.deepEqual([this.counts(), await this.money()], [[1, 0], UNTOUCHED]);
        });
      }

      for (const error of passing) {
        test(`${error} is made good by another upstream, and charged once`, async () => {
          this.first.refuse(error, error);
          await madeBySecond();
          if (!error.startsWith('noCredit')) return;
          const { whole } = await upstreamHealth(this.gateway, `${vendor}-0`);
          assert.equal(whole.state, 'open', JSON.stringify(whole));
        });
      }

      test('two empty accounts are no fault of the caller’s, and it is not told of them', async () => {
        [this.first.isBroke, this.second.isBroke] = [true, true];
        const answer = await ask();
        assert.ok(answer.status >= 500, answer.text);
        assert.doesNotMatch(answer.text, /credit|payment|balance/i);
        assert.deepEqual(await this.money(), UNTOUCHED);
      });

      for (const [name, script] of LOST) {
        test(`${name} is made good by another upstream, and charged once`, async () => {
          this.first.script(script, script);
          await madeBySecond();
        });
      }
    });
  }

  /** Stops the process once the first upstream has a transcription; resolves with its id. */
  async #interrupted(condition = ''): Promise<string> {
    const pending = this.hear();
    pending.catch(() => undefined);
    const sql = `select id from transcriptions where account_id = $1 ${condition}`;
    const read = () => rowsOf<{ id: string }>(this.gateway, sql, [this.caller.accountId]);
    await until(async () => this.first.requests.length > 0 && (await read()).length === 1);
    const [{ id } = assert.fail()] = await read();
    await this.gateway.stop(0);
    await assert.rejects(pending);
    return id;
  }

  /** Lets time pass until the record of a transcription has the status; resolves with the record. */
  async #ended(id: string, status: string): Promise<Answer['json']> {
    const read = () => this.gateway.call('GET', `${TRANSCRIPTIONS}/${id}`, { key: this.caller.key });
    await until(async () => {
      this.gateway.clock.advance(5);
      return (await read()).json?.status === status;
    });
    return (await read()).json;
  }

  async #open(): Promise<void> {
    this.#gateway = await Gateway.start({ database: this.#database ?? assert.fail('there is no database') });
  }

  async #begin(): Promise<void> {
    const { emulator, vendor, apiKey, speech, transcription, models = [] } = this.#rules;
    this.#emulators = [emulator(), emulator()];
    await Promise.all([this.first.start(), this.second.start()]);
    const upstreams = [this.first, this.second].map(({ url }, at) => {
      return { id: `${vendor}-${at}`, vendor, base_url: url, api_key: apiKey, priority: 9 - at, timeout_seconds: 60 };
    });
    const audio = (upstreamModel: string) => ({
      modality: 'audio',
      owned_by: 'studio',
      routes: upstreams.map(({ id }) => ({ upstream: id, model: upstreamModel })),
    });
    await this.gateway.putConfig({
      upstreams,
      models: [
        ...(speech === undefined ? [] : [{ ...SPEECH_MODEL, id: 'studio/voice', ...audio(speech) }]),
        ...(transcription === undefined ? [] : [{ ...EARS_MODEL, id: 'studio/ears', ...audio(transcription) }]),
        ...models.map(({ upstreamModel, ...model }) => ({ ...SPEECH_MODEL, ...model, ...audio(upstreamModel) })),
      ],
    });
    this.#caller = await paidCaller(this.gateway);
  }
}

const SPEECH_MODEL = {
  endpoints: ['audio_speech'],
  pricing: { mode: 'per_request', credits: { base: SPEECH_PRICE } },
};

const EARS_MODEL = {
  endpoints: ['transcriptions'],
  pricing: { mode: 'per_audio_second', credits: { per_second: SECOND_PRICE } },
};

export function paid(credits: number): Money {
  return { available: 1000 - credits, reserved: 0, spent: credits };
}
