import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { BUILT_IN_CATALOGUE } from '../../src/configuration/index.ts';
import { OpenAiEmulator } from '../../src/vendors/openai/emulator.ts';
import { form } from './forms.ts';
import { type Answer, type CallOptions, Gateway, type GatewayOptions } from './gateway.ts';
import { picture, toneAs } from './media-samples.ts';
import { newOwner, type SignedInPerson } from './people.ts';
import { until } from './postgres.ts';

const CLIP = await toneAs('wav', { seconds: 1.5 });
const PICTURE = await picture('png', { width: 4, height: 4 });

/** The address of a call, and its credential. */
export interface Door extends Pick<CallOptions, 'key' | 'headers'> {
  readonly prefix: '/v1' | '/api/console/run';
}

export const byKey = (key: string): Door => ({ prefix: '/v1', key });
export const atConsole = ({ headers }: SignedInPerson): Door => ({ prefix: '/api/console/run', headers });

/** One call of each kind that makes something, as JSON or as a form; what they say beyond that does not matter. */
export const RUNS: Readonly<Record<string, readonly [path: string, sent: Omit<CallOptions, 'key'>]>> = {
  chat: ['/chat/completions', { body: { model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hi' }] } }],
  picture: ['/images/generations', { body: { model: 'sandbox/image', prompt: 'a gate', size: '256x256' } }],
  edit: [
    '/images/edits',
    form([
      { name: 'model', value: 'sandbox/image' },
      { name: 'prompt', value: 'a blue gate' },
      { name: 'size', value: '256x256' },
      { name: 'image', fileName: 'gate.png', bytes: PICTURE },
    ]),
  ],
  video: ['/videos', { body: { model: 'sandbox/video', prompt: 'a gate', seconds: 1, size: '854x480' } }],
  music: ['/audio/music', { body: { model: 'sandbox/music', prompt: 'a gate', duration: 1 } }],
  speech: ['/audio/speech', { body: { model: 'site/speech', input: 'Hello', voice: 'alloy' } }],
  transcription: [
    '/audio/transcriptions',
    form([
      { name: 'model', value: 'site/transcribe' },
      { name: 'file', fileName: 'clip.wav', bytes: CLIP },
    ]),
  ],
  estimate: ['/estimate', { body: { endpoint: 'images', model: 'sandbox/image', prompt: 'a gate' } }],
  file: ['/files', form([{ name: 'file', fileName: 'gate.png', bytes: PICTURE }])],
};

/** A gateway with the built-in models, and an upstream that speaks and hears at once. */
export class ConsoleSite {
  readonly open = new OpenAiEmulator({ isLenient: true });
  #gateway: Gateway | undefined;

  get gateway(): Gateway {
    return this.#gateway ?? assert.fail('the site has not been started');
  }

  async start(options: GatewayOptions = {}): Promise<void> {
    await this.open.start();
    this.#gateway = await Gateway.start(options);
    const { upstreams, models } = parse(BUILT_IN_CATALOGUE);
    const audio = (id: string, endpoint: string, pricing: object) => ({
      ...{ id, modality: 'audio', owned_by: 'site', endpoints: [endpoint], pricing },
      routes: [{ upstream: 'open', model: 'any' }],
    });
    await this.gateway.putConfig({
      upstreams: [...upstreams, { id: 'open', vendor: 'openai', base_url: this.open.url }],
      models: [
        ...models,
        audio('site/speech', 'audio_speech', { mode: 'per_request', credits: { base: 2 } }),
        audio('site/transcribe', 'transcriptions', { mode: 'per_audio_second', credits: { per_second: 2 } }),
      ],
    });
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    await this.open.stop();
  }

  /** An owner whose account has credits. */
  async owner(credits = 1000): Promise<SignedInPerson> {
    const owner = await newOwner(this.gateway);
    if (credits > 0) await this.gateway.admin('POST', `/accounts/${owner.accountId}/grants`, { credits });
    return owner;
  }

  /** A key of the same account, made in the console. */
  async keyOf(person: SignedInPerson, settings: object = {}): Promise<{ id: string; key: string }> {
    const made = await person.call('POST', '/keys', { name: 'key', ...settings });
    assert.equal(made.status, 200, made.text);
    return made.json;
  }

  run({ prefix, headers = {}, ...proof }: Door, kind: string, more: CallOptions = {}): Promise<Answer> {
    const [path, sent] = RUNS[kind] ?? assert.fail(kind);
    const all = { ...sent, ...proof, ...more, headers: { ...headers, ...sent.headers, ...more.headers } };
    return this.gateway.call('POST', prefix + path, all);
  }

  /** The same for a call that succeeds. */
  async made(door: Door, kind: string, more: CallOptions = {}): Promise<Answer> {
    const answer = await this.run(door, kind, more);
    assert.ok([200, 202].includes(answer.status), `${kind}: ${answer.status} ${answer.text}`);
    return answer;
  }

  /** Lets time pass until a job has ended. */
  async ended({ call }: SignedInPerson, jobId: string): Promise<Answer['json']> {
    const read = async () => (await call('GET', `/jobs/${jobId}`)).json;
    await until(async () => {
      this.gateway.clock.advance(0.1);
      return ['succeeded', 'failed'].includes((await read()).status);
    });
    return read();
  }
}
