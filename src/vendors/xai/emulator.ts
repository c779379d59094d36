import { json } from '../emulator/json.ts';
import type { Recorded } from '../emulator/recording-server.ts';
import type { Answer } from '../emulator/scripted-server.ts';
import { TaskServer } from '../emulator/task-server.ts';
import { CLIP_MODELS, PICTURE_MODELS, problemOf } from './emulator/fields.ts';

export type Ending = 'done' | 'withheld' | 'blocked' | 'failed' | 'expired';

interface Task {
  readonly ending: Ending;
  reads: number;
}

export interface Samples {
  readonly picture: Buffer;
  readonly clip: Buffer;
  readonly sound: Buffer;
}

const MODELS = [...PICTURE_MODELS, ...CLIP_MODELS].map((id) => ({ id, object: 'model', created: 1, owned_by: 'xai' }));
const FORBIDDEN = /forbidden/;
const TICKS = 200_000_000;
const FORM_FIELDS = new Set(['file', 'language', 'format', 'diarize', 'keyterm', 'filler_words']);

/**
 * The vendor's server, its queue and the host of its results in one. It refuses what the vendor would refuse. A text that
 * holds the word "forbidden" breaks its rules.
 */
export class XaiEmulator extends TaskServer {
  isBroke = false;
  isBusy = false;
  /** How many pictures of a call moderation withholds. */
  withheldPictures = 0;
  /** The next tasks end so, each one of these; then well. */
  readonly endings: Ending[] = [];
  readonly #apiKey: string;
  readonly #samples: Samples;
  readonly #tasks = new Map<string, Task>();

  constructor(apiKey: string, samples: Samples) {
    super((request) => this.#answer(request));
    this.#apiKey = apiKey;
    this.#samples = samples;
  }

  override get url(): string {
    return `${this.origin}/v1`;
  }

  async #answer(request: Recorded): Promise<Answer> {
    const { method, path, headers } = request;
    if (path.startsWith('/files/')) return this.#download(headers.authorization !== undefined);
    // The vendor's own way to tell of a wrong key.
    if (headers.authorization !== `Bearer ${this.#apiKey}`) return refusal(400, 'Incorrect API key provided: k***y.');
    if (method === 'POST') return this.#take(path, request);
    if (path === '/v1/models') return json(200, { object: 'list', data: MODELS });
    const [, id] = /^\/v1\/videos\/([^/]+)$/.exec(path) ?? [];
    return id === undefined ? refusal(404, 'The route does not exist', 'not-found') : this.#read(id);
  }

  #take(path: string, { headers, bytes }: Recorded): Answer {
    const isForm = path === '/v1/stt';
    const problem = isForm ? problemOfForm(headers, bytes) : problemOfJson(path, headers, bytes);
    if (problem !== undefined) return refusal(400, `Argument not supported: ${problem}`);
    if (this.isBroke) {
      const words = 'Your team has either used all available credits or reached its monthly spending limit.';
      return refusal(429, words, 'resource-exhausted');
    }
    if (this.isBusy) return refusal(429, 'Too many requests for team', 'resource-exhausted');
    if (isForm) return json(200, TRANSCRIPT);
    if (FORBIDDEN.test(bytes.toString())) return refusal(400, 'Rejected by content moderation.');
    if (path === '/v1/tts')
      return { status: 200, headers: { 'content-type': 'audio/mpeg' }, body: this.#samples.sound };
    return path.startsWith('/v1/videos/') ? this.#submit() : this.#draw(JSON.parse(bytes.toString()).n ?? 1);
  }

  #submit(): Answer {
    const id = `task-${this.#tasks.size + 1}`;
    this.#tasks.set(id, { ending: this.endings.shift() ?? 'done', reads: 0 });
    return json(200, { request_id: id });
  }

  /** The first answers have no body. */
  #read(id: string): Answer {
    const task = this.#tasks.get(id);
    if (task === undefined) return refusal(404, 'Some requested entity was not found', 'not-found');
    task.reads++;
    if (task.reads < this.readsUntilDone) return { status: 202, body: '' };
    if (task.reads === this.readsUntilDone) return json(202, { status: 'pending', progress: 40 });
    const usage = { cost_in_usd_ticks: TICKS };
    const video = { url: `${this.origin}/files/clip?signature=s`, duration: 8, respect_moderation: true };
    switch (task.ending) {
      case 'done':
        return json(200, { status: 'done', video, model: 'marker', usage });
      case 'withheld':
        return json(200, { status: 'done', video: { url: '', duration: 0, respect_moderation: false }, usage });
      case 'blocked':
        return json(200, { status: 'done', block_reason: 'marker' });
      case 'failed':
        return json(200, { status: 'failed', error: { code: 'internal', message: 'marker' } });
      case 'expired':
        return json(200, { status: 'expired' });
    }
  }

  #draw(count: number): Answer {
    const b64_json = this.#samples.picture.toString('base64');
    const data = Array.from({ length: count }, (_, at) =>
      at < this.withheldPictures ? { b64_json: '', respect_moderation: false } : { b64_json, respect_moderation: true },
    );
    return json(200, { data, usage: { cost_in_usd_ticks: TICKS } });
  }

  /** A signed link: it needs no key, and the host of files must never see it. */
  #download(hasKey: boolean): Answer {
    if (hasKey) return { status: 400, body: 'a credential beside a signature' };
    if (this.areLinksDead) return { status: 403, body: '<Error>AccessDenied</Error>' };
    return { status: 200, headers: { 'content-type': 'video/mp4' }, body: this.#samples.clip };
  }
}

const TRANSCRIPT = {
  text: 'A toll gate. It opens.',
  language: 'English',
  duration: 0.5,
  words: ['A', 'toll', 'gate.', 'It', 'opens.'].map((text, at) => ({ text, start: at / 10, end: (at + 1) / 10 })),
};

function problemOfJson(path: string, headers: Recorded['headers'], bytes: Buffer): string | undefined {
  if (headers['content-type'] !== 'application/json') return 'content-type';
  try {
    return problemOf(path, JSON.parse(bytes.toString()));
  } catch {
    return 'body';
  }
}

/** The file is the last of the parts. */
function problemOfForm(headers: Recorded['headers'], bytes: Buffer): string | undefined {
  if (!/^multipart\/form-data/.test(headers['content-type'] ?? '')) return 'content-type';
  const names = [...bytes.toString('latin1').matchAll(/; name="([^"]+)"/g)].map(([, name = '']) => name);
  return names.find((name) => !FORM_FIELDS.has(name)) ?? (names.at(-1) === 'file' ? undefined : 'file');
}

function refusal(status: number, error: string, code = 'invalid-argument'): Answer {
  return json(status, { code, error });
}
