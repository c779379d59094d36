import { json, jsonIn } from '../emulator/json.ts';
import type { Recorded } from '../emulator/recording-server.ts';
import type { Answer } from '../emulator/scripted-server.ts';
import { TaskServer } from '../emulator/task-server.ts';
import { problemOf } from './emulator/fields.ts';

export type Ending = 'done' | 'sensitive' | 'broken' | 'expired';

interface Task {
  readonly version: 'v1' | 'v2';
  readonly ending: Ending;
  reads: number;
}

export interface Samples {
  readonly picture: Buffer;
  readonly clip: Buffer;
  readonly sound: Buffer;
}

const FORBIDDEN = /forbidden/;
const VOICE = { voice_id: 'English_Graceful_Lady', voice_name: 'Graceful Lady', description: ['Calm.'] };
const OK = { status_code: 0, status_msg: 'success' };

/**
 * The vendor's server, its queues and the host of its results in one. It refuses what the vendor would refuse, and mostly
 * with status 200. A text that holds the word "forbidden" breaks its rules.
 */
export class MinimaxEmulator extends TaskServer {
  isBroke = false;
  isBusy = false;
  /** How many pictures of a call do not come. */
  missingPictures = 0;
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

  async #answer(request: Recorded): Promise<Answer> {
    const { method, path, headers } = request;
    const { pathname, searchParams } = new URL(path, this.url);
    if (pathname.startsWith('/files/')) return this.#download(pathname, headers.authorization !== undefined);
    if (headers.authorization !== `Bearer ${this.#apiKey}`) return this.#refused(pathname, 2049, 'invalid api key');
    if (method === 'POST') return this.#take(pathname, request);
    const [, id] = /^\/v2\/query\/video_generation\/([^/]+)$/.exec(pathname) ?? [];
    if (id !== undefined) return this.#readListed(id);
    if (pathname === '/v1/query/video_generation') return this.#read(searchParams.get('task_id') ?? '');
    if (pathname === '/v1/files/retrieve') return this.#file(searchParams.get('file_id') ?? '');
    return { status: 404, body: '404 page not found' };
  }

  #take(path: string, { headers, bytes }: Recorded): Answer {
    if (path === '/v1/speech_to_text') return this.#transcribe(headers, bytes);
    const body = jsonIn({ headers, bytes });
    const problem = body === undefined ? 'no JSON' : problemOf(path, body);
    if (body === undefined || problem !== undefined) return this.#refused(path, 2013, `invalid params, ${problem}`);
    if (path === '/v1/get_voice') return json(200, { system_voice: [VOICE], base_resp: OK });
    if (this.isBroke) return this.#refused(path, 1008, 'insufficient balance');
    if (this.isBusy) return this.#refused(path, 1002, 'rate limit exceeded(RPM)');
    if (FORBIDDEN.test(bytes.toString())) return this.#refused(path, 1026, 'input new_sensitive (1026)');
    if (path.endsWith('/video_generation')) return this.#submit(path.startsWith('/v2') ? 'v2' : 'v1');
    return path === '/v1/image_generation'
      ? this.#draw(Number(body.n ?? 1), body.response_format === 'base64')
      : this.#sound(path, typeof body.text === 'string' ? body.text : '');
  }

  #refused(path: string, code: number, words: string): Answer {
    const refusal = path.startsWith('/v2/') ? V2_REFUSALS[code] : undefined;
    if (refusal === undefined) return json(200, { base_resp: { status_code: code, status_msg: words } });
    const [status, type] = refusal;
    return json(status, { type: 'error', error: { type, message: words, http_code: String(status) }, request_id: 'r' });
  }

  #submit(version: Task['version']): Answer {
    const id = String(10_000 + this.#tasks.size);
    this.#tasks.set(id, { version, ending: this.endings.shift() ?? 'done', reads: 0 });
    return json(200, version === 'v2' ? { task_id: id } : { task_id: id, base_resp: OK });
  }

  #next(id: string, version: Task['version']): Task | undefined {
    const task = this.#tasks.get(id);
    if (task?.version !== version) return undefined;
    task.reads++;
    return task;
  }

  #read(id: string): Answer {
    const task = this.#next(id, 'v1');
    if (task === undefined) return this.#refused('', 2013, 'invalid params, task_id');
    if (task.reads <= this.readsUntilDone) {
      return json(200, { task_id: id, status: task.reads === 1 ? 'Queueing' : 'Processing', base_resp: OK });
    }
    if (task.ending === 'done') {
      return json(200, { task_id: id, status: 'Success', file_id: `9${id}`, video_width: 64, base_resp: OK });
    }
    const base_resp =
      task.ending === 'sensitive'
        ? { status_code: 1027, status_msg: 'output new_sensitive' }
        : { status_code: 1000, status_msg: 'marker' };
    return json(200, { task_id: id, status: 'Fail', file_id: '', base_resp });
  }

  #readListed(id: string): Answer {
    const task = this.#next(id, 'v2');
    if (task === undefined) return { status: 404, body: '{"type":"error","error":{"type":"not_found_error"}}' };
    if (task.reads <= this.readsUntilDone) {
      return json(200, { task: { id, status: task.reads === 1 ? 'queued' : 'running' } });
    }
    const usage = { total_seconds: 6, input_seconds: 0, output_seconds: 6, input_image_count: 0 };
    const content = { url: `${this.url}/files/clip?signature=s` };
    if (task.ending === 'done') return json(200, { task: { id, status: 'succeeded', content, usage } });
    if (task.ending === 'expired') return json(200, { task: { id, status: 'expired' } });
    const error =
      task.ending === 'sensitive' ? { code: '1027', message: 'marker' } : { code: '1000', message: 'marker' };
    return json(200, { task: { id, status: 'failed', error } });
  }

  #file(id: string): Answer {
    if (!this.#tasks.has(id.slice(1))) return this.#refused('', 2013, 'invalid params, file_id');
    const download_url = `${this.url}/files/clip?signature=s`;
    return json(200, { file: { file_id: Number(id), bytes: 1, filename: 'output.mp4', download_url }, base_resp: OK });
  }

  #draw(count: number, isInline: boolean): Answer {
    const made = count - this.missingPictures;
    const pictures = isInline
      ? { image_base64: Array.from({ length: made }, () => this.#samples.picture.toString('base64')) }
      : { image_urls: Array.from({ length: made }, (_, at) => `${this.url}/files/picture?n=${at}`) };
    const data = { ...pictures, task_id: 't', success_count: made, failed_count: this.missingPictures };
    return json(200, { id: 't', data, base_resp: OK });
  }

  #sound(path: string, text: string): Answer {
    const audio = this.#samples.sound.toString('hex');
    if (path === '/v1/voice_design') return json(200, { voice_id: 'ttv-voice-1', trial_audio: audio, base_resp: OK });
    const extra_info = { audio_length: 500, music_duration: 500, usage_characters: text.length };
    return json(200, { data: { audio, status: 2 }, extra_info, trace_id: 't', base_resp: OK });
  }

  /** The language is a header, and not one of the parts. */
  #transcribe(headers: Recorded['headers'], bytes: Buffer): Answer {
    const form = bytes.toString('latin1');
    const names = [...form.matchAll(/; name="([^"]+)"/g)].map(([, name = '']) => name);
    const unknown = names.find((name) => !FORM_FIELDS.has(name));
    const isWhole = /^multipart\/form-data/.test(headers['content-type'] ?? '') && names.includes('file');
    if (!isWhole || unknown !== undefined || !names.includes('model'))
      return json(400, { error: { type: 'bad_request_error', message: `invalid ${unknown}` } });
    if (this.isBroke) return this.#refused('', 1008, 'insufficient balance');
    if (this.isBusy) return this.#refused('', 1002, 'rate limit exceeded(RPM)');
    const segments = [{ id: 0, start: 0, end: 0.5, speaker: 'S1', text: 'A toll gate.' }];
    const isVerbose = /name="response_format"\r\n\r\nverbose_json/.test(form);
    return json(200, { text: 'A toll gate.', duration: 0.5, ...(isVerbose && { segments }), trace_id: 't' });
  }

  /** A signed link: it needs no key, and the host of files must never see it. */
  #download(path: string, hasKey: boolean): Answer {
    if (hasKey) return { status: 400, body: 'a credential beside a signature' };
    if (this.areLinksDead) return { status: 403, body: '<Error>AccessDenied</Error>' };
    return path === '/files/clip'
      ? { status: 200, headers: { 'content-type': 'video/mp4' }, body: this.#samples.clip }
      : { status: 200, headers: { 'content-type': 'image/jpeg' }, body: this.#samples.picture };
  }
}

const FORM_FIELDS = new Set(['file', 'model', 'response_format', 'timestamp_level', 'stream']);

const V2_REFUSALS: Readonly<Record<number, readonly [status: number, type: string]>> = {
  1002: [429, 'rate_limit_error'],
  1008: [402, 'insufficient_balance_error'],
  1026: [422, 'unprocessable_entity_error'],
  2013: [400, 'invalid_request_error'],
  2049: [401, 'authorized_error'],
};
