import assert from 'node:assert/strict';
import { AssemblyAiEmulator } from '../../src/vendors/assemblyai/emulator.ts';
import { OpenAiEmulator } from '../../src/vendors/openai/emulator.ts';
import { formOf, type Part, valuesOf } from './asked-forms.ts';
import type { Fields } from './documents.ts';
import { FetchTarget } from './fetch-target.ts';
import { type Answer, Gateway, type GatewayOptions, type NewCaller } from './gateway.ts';
import { rowsOf, storedFiles } from './keeping.ts';
import { toneAs } from './media-samples.ts';
import { type Asking, type Told, toldBy } from './media-studio.ts';
import { moneyOf } from './paid-calls.ts';
import { until } from './postgres.ts';

export const TRANSCRIPTIONS = '/v1/audio/transcriptions';
/** Credits for a second of sound. */
export const SECOND_PRICE = 2;

/** A second and a half of sound. */
export const CLIP = await toneAs('wav', { seconds: 1.5 });
export const CLIP_PRICE = 1.5 * SECOND_PRICE;

const KEY = 'sk-upstream';
export const MARKER = 'marker-of-the-upstream';

/**
 * A gateway with three upstreams that hear: one as strict as its format's author, one that takes what it is sent, and one
 * that takes tasks and has to be asked after them.
 */
export class Booth {
  readonly ear = new OpenAiEmulator({ apiKey: KEY, models: ['whisper-1'], marker: MARKER });
  readonly open = new OpenAiEmulator({ isLenient: true, marker: MARKER });
  readonly tasks = new AssemblyAiEmulator({ apiKey: KEY, marker: MARKER });
  /** What is to be had at each path of the host that may be fetched from. */
  readonly clips = new Map<string, Buffer>();
  /** What is waited for before any of them is given. */
  beforeClip: () => Promise<void> = async () => undefined;
  #target: FetchTarget | undefined;
  #gateway: Gateway | undefined;

  get gateway(): Gateway {
    return this.#gateway ?? assert.fail('the booth has not been started');
  }

  get target(): FetchTarget {
    return this.#target ?? assert.fail('the booth has not been started');
  }

  async start(options: GatewayOptions = {}): Promise<void> {
    await Promise.all([this.ear.start(), this.open.start(), this.tasks.start()]);
    this.#target = await FetchTarget.start((request, response) => {
      const clip = this.clips.get(request.url ?? '');
      void this.beforeClip().then(() => response.writeHead(clip === undefined ? 404 : 200).end(clip));
    });
    this.#gateway = await this.another(options);
    await this.gateway.putConfig(this.document());
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    this.target[Symbol.dispose]();
    await Promise.all([this.ear.stop(), this.open.stop(), this.tasks.stop()]);
  }

  /** One more process of the same deployment, or the same one after a restart. */
  another(options: GatewayOptions = {}): Promise<Gateway> {
    const settings = { TOLLGATE_FETCH_ALLOW: `127.0.0.1:${this.target.port}`, ...options.settings };
    return Gateway.start({ ...options, settings });
  }

  document(models: readonly Fields[] = MODELS, upstreams: Record<string, Fields> = {}): Fields {
    return {
      upstreams: [
        { id: 'ear', vendor: 'openai', base_url: this.ear.url, api_key: KEY, priority: 2, ...upstreams.ear },
        { id: 'open', vendor: 'openai', base_url: this.open.url, priority: 1, ...upstreams.open },
        { id: 'tasks', vendor: 'assemblyai', base_url: this.tasks.url, api_key: KEY, ...upstreams.tasks },
      ],
      models,
    };
  }

  sent(caller: NewCaller, asking: Asking): Promise<Answer> {
    return this.gateway.call('POST', TRANSCRIPTIONS, { ...asking, key: caller.key });
  }

  /** The answer to a request that succeeds. */
  async heard(caller: NewCaller, asking: Asking): Promise<Answer> {
    const answer = await this.sent(caller, asking);
    assert.equal(answer.status, 200, answer.text);
    return answer;
  }

  read(caller: NewCaller, id: string): Promise<Answer> {
    return this.gateway.call('GET', `${TRANSCRIPTIONS}/${id}`, { key: caller.key });
  }

  /** The record, once it is in this state. */
  async inState(caller: NewCaller, id: string, status: string): Promise<Answer['json']> {
    await until(async () => (await this.read(caller, id)).json.status === status);
    return (await this.read(caller, id)).json;
  }

  /** Sends, and waits until the upstream has a task of it that no record forgets. */
  async submitted(caller: NewCaller, gateway = this.gateway): Promise<Submitted> {
    const saved = () =>
      rowsOf<{ id: string }>(gateway, 'select id from transcriptions where account_id = $1 and task is not null', [
        caller.accountId,
      ]);
    const known = new Set((await saved()).map(({ id }) => id));
    const answer = gateway.call('POST', TRANSCRIPTIONS, {
      ...clipForm(CLIP, { model: 'booth/tasks' }),
      key: caller.key,
    });
    answer.catch(() => undefined);
    let id: string | undefined;
    await until(async () => {
      id = (await saved()).find((row) => !known.has(row.id))?.id;
      return id !== undefined;
    });
    return { id: id ?? '', task: this.tasks.tasks.at(-1)?.id ?? '', answer };
  }

  /** Lets time pass until it is so: faster than it does, and slowly enough that no living process loses its lease. */
  async pass(isSo: () => boolean | Promise<boolean>): Promise<void> {
    await until(async () => {
      this.gateway.clock.advance(0.05);
      return isSo();
    });
  }

  /** Lets time pass until there is an answer. */
  async answered(answer: Promise<Answer>): Promise<Answer> {
    let isThere = false;
    const arrived = () => {
      isThere = true;
    };
    answer.then(arrived, arrived);
    await this.pass(() => isThere);
    return answer;
  }

  /** Lets time pass until a record is in this state. */
  async becomes(caller: NewCaller, id: string, status: string, gateway = this.gateway): Promise<Answer['json']> {
    const read = () => gateway.call('GET', `${TRANSCRIPTIONS}/${id}`, { key: caller.key });
    await this.pass(async () => (await read()).json.status === status);
    return (await read()).json;
  }

  /** Each is refused as told, and nothing comes of any: no record, no charge, no call, and nothing in the store. */
  async refuses(caller: NewCaller, rows: readonly (readonly [Asking, Told])[]): Promise<void> {
    const before = await this.#traces(caller);
    for (const [asking, told] of rows) {
      const answer = await this.sent(caller, asking);
      assert.equal(toldBy(answer), told, `${describe(asking)}: ${answer.text}`);
      assert.equal(answer.headers.location, undefined);
    }
    assert.deepEqual(await this.#traces(caller), before);
    await this.assertNothingStored();
  }

  /** After everything that is done now and then has been done once. Files that callers keep here do not count. */
  async assertNothingStored(): Promise<void> {
    const { database, clock } = this.gateway;
    await (await this.another({ database, clock })).stop();
    const inputs = storedFiles(this.gateway).filter((path) => !/\/files\.\w+$/.test(path));
    assert.deepEqual(inputs, []);
  }

  async #traces(caller: NewCaller) {
    const [records] = await rowsOf(this.gateway, 'select count(*)::int from transcriptions where account_id = $1', [
      caller.accountId,
    ]);
    const calls = [this.ear, this.open, this.tasks].map(({ requests }) => requests.length);
    return { records, calls, money: await moneyOf(this.gateway, caller), entries: await entriesOf(this.gateway) };
  }
}

export interface Submitted {
  readonly id: string;
  /** The upstream's own name of it. */
  readonly task: string;
  readonly answer: Promise<Answer>;
}

/** How many entries the ledger has. */
export async function entriesOf(gateway: Gateway): Promise<number> {
  const [row] = await rowsOf<{ count: number }>(gateway, 'select count(*)::int from ledger_entries');
  return row?.count ?? 0;
}

function describe({ body, raw }: Asking): string {
  return raw === undefined ? JSON.stringify(body).slice(0, 300) : String(raw).slice(0, 300);
}

const WIRE_NAMES: Readonly<Record<string, string>> = { ear: 'whisper-1', open: 'any-ear', tasks: 'universal-2' };

export function earModel(id: string, upstreams: readonly string[], fields: Fields = {}): Fields {
  return {
    id,
    modality: 'audio',
    owned_by: 'booth',
    endpoints: ['transcriptions'],
    pricing: { mode: 'per_audio_second', credits: { per_second: SECOND_PRICE } },
    routes: upstreams.map((upstream) => ({ upstream, model: WIRE_NAMES[upstream] })),
    ...fields,
  };
}

export const MODELS = [
  earModel('booth/strict', ['ear']),
  earModel('booth/open', ['open']),
  earModel('booth/both', ['ear', 'open']),
  earModel('booth/tasks', ['tasks']),
];

/** A form with a clip; what is undefined is left out. */
export function clipForm(
  bytes: Buffer,
  fields: Record<string, string | undefined> = {},
  more: readonly Part[] = [],
): Asking {
  const values = Object.entries({ model: 'booth/strict', ...fields }).flatMap(([name, value]) =>
    value === undefined ? [] : valuesOf({ [name]: value }),
  );
  return formOf([...values, ...more, { name: 'file', bytes, fileName: 'a.bin', type: 'image/png' }]);
}
