// The upstreams of the chaos for sound: emulators in the driver's own process, which treat each order as it was arranged.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Recorded as AskedTask,
  AssemblyAiEmulator,
  type Script as TaskScript,
} from '../../../../src/vendors/assemblyai/emulator.ts';
import type { Recorded } from '../../../../src/vendors/emulator/recording-server.ts';
import { OpenAiEmulator, type Script } from '../../../../src/vendors/openai/emulator.ts';
import { nameIn, soundNamed } from './sounds.ts';

/** How an order is treated. Only bad upstreams do harm; any upstream may hold what it was asked for, or after. */
export type Manner =
  | 'well'
  | 'held'
  | 'asking held'
  | 'refused'
  | 'rejected'
  | 'accepted and reset'
  | 'nothing heard'
  | 'failed'
  | 'broken off';

/** One piece of work that an upstream did, and will want to be paid for. */
export interface Submission {
  readonly upstream: string;
  readonly kind: 'recording' | 'speech';
  /** The order's. */
  readonly name: string;
  /** The upstream's own name for it, where it has one. */
  readonly task: string | undefined;
}

const TASKS_KEY = 'key-of-the-tasks';
const READS_UNTIL_DONE = 2;
/** How recordings and texts alike are turned away. */
const FAILURES = {
  refused: { kind: 'error', error: 'overloaded' },
  rejected: { kind: 'error', error: 'invalid' },
  'accepted and reset': { kind: 'fault', fault: 'reset when done' },
} as const satisfies Partial<Record<Manner, Script>>;
/** Several, so that one that cools down after a refused connection does not keep others from being tried. */
const DEAD_UPSTREAMS = 4;
/** Nothing listens on the port for discarded messages. */
const DEAD_ADDRESS = 'http://127.0.0.1:9/v1';

export const CREDITS_PER_SECOND = 10;
export const CREDITS_PER_CHARACTER = 2;
export const ENDLESS_MODEL = 'chaos/endless';

/** What is heard in a recording. */
export function textHeard(upstream: string, name: string): string {
  return `Order ${name} as ${upstream} has heard it.`;
}

export class Upstreams {
  readonly #manners = new Map<string, Manner>();
  readonly #seconds = new Map<string, number>();
  readonly #reads = new Map<string, number>();
  readonly #ears: Readonly<Record<string, OpenAiEmulator>>;
  readonly #mouths: Readonly<Record<string, OpenAiEmulator>>;
  readonly #tasks: Readonly<Record<string, AssemblyAiEmulator>>;
  /** Where recordings may be fetched from. */
  readonly #shelf = createServer((request, response) => {
    const name = decodeURIComponent(request.url?.slice(1) ?? '');
    response.end(soundNamed(name, this.#seconds.get(name) ?? 1));
  });
  #gate = Promise.withResolvers<void>();
  /** Answers that are being held. */
  readonly holding = { recordings: 0, readings: 0, speeches: 0 };

  private constructor() {
    const ear = (id: string) => new OpenAiEmulator({ scriptOf: (asked) => this.#hear(id, asked) });
    const mouth = (id: string) => new OpenAiEmulator({ scriptOf: (asked) => this.#speak(id, asked) });
    const tasks = (id: string) =>
      new AssemblyAiEmulator({ apiKey: TASKS_KEY, scriptOf: (asked) => this.#take(id, asked) });
    this.#ears = { ear: ear('ear'), 'bad-ear': ear('bad-ear') };
    this.#mouths = { mouth: mouth('mouth'), 'bad-mouth': mouth('bad-mouth') };
    this.#tasks = { tasks: tasks('tasks'), 'bad-tasks': tasks('bad-tasks'), endless: tasks('endless') };
  }

  static async start(): Promise<Upstreams> {
    const upstreams = new Upstreams();
    await once(upstreams.#shelf.listen(0, '127.0.0.1'), 'listening');
    await Promise.all(upstreams.#all.map((one) => one.start()));
    return upstreams;
  }

  async stop(): Promise<void> {
    this.release();
    this.#shelf.close();
    this.#shelf.closeAllConnections();
    await Promise.all(this.#all.map((one) => one.stop()));
  }

  get #all(): readonly (OpenAiEmulator | AssemblyAiEmulator)[] {
    return [this.#ears, this.#mouths, this.#tasks].flatMap((group) =>
      Object.values<OpenAiEmulator | AssemblyAiEmulator>(group),
    );
  }

  arrange(name: string, manner: Manner, seconds: number): void {
    this.#manners.set(name, manner);
    this.#seconds.set(name, seconds);
  }

  /** All that is held is answered. */
  release(): void {
    this.#gate.resolve();
    this.#gate = Promise.withResolvers();
    Object.assign(this.holding, { recordings: 0, readings: 0, speeches: 0 });
  }

  addressOf(name: string): string {
    return `http://${this.fileHosts}/${encodeURIComponent(name)}`;
  }

  get fileHosts(): string {
    const { port } = this.#shelf.address() as AddressInfo;
    return `127.0.0.1:${port}`;
  }

  /** All that was ever accepted or done. */
  get submissions(): readonly Submission[] {
    const heard = Object.entries(this.#ears).flatMap(([upstream, { recordings }]) =>
      recordings.map(({ file }) => ({
        upstream,
        kind: 'recording' as const,
        name: orderNameIn(file.bytes),
        task: undefined,
      })),
    );
    const spoken = Object.entries(this.#mouths).flatMap(([upstream, { speeches }]) =>
      speeches.map(({ input }) => ({ upstream, kind: 'speech' as const, name: orderNameIn(input), task: undefined })),
    );
    const accepted = Object.entries(this.#tasks).flatMap(([upstream, { tasks }]) =>
      tasks.map(({ id, audio }) => ({ upstream, kind: 'recording' as const, name: orderNameIn(audio), task: id })),
    );
    return [...heard, ...spoken, ...accepted];
  }

  #hear(id: string, { bytes }: Recorded): Script {
    const name = orderNameIn(bytes);
    const words = textHeard(id, name).split(' ');
    const manner = this.#mannerAt(id, name);
    switch (manner) {
      case 'refused':
      case 'rejected':
      case 'accepted and reset':
        return FAILURES[manner];
      case 'nothing heard':
        return { kind: 'transcript', words: [] };
      case 'held':
        return { kind: 'transcript', words, after: this.#hold('recordings') };
      case 'well':
      case 'asking held':
      case 'failed':
      case 'broken off':
        return { kind: 'transcript', words };
    }
  }

  #take(id: string, asked: AskedTask): TaskScript | undefined {
    if (asked.step === 'read') return this.#goOn(id, asked.path.split('/').at(-1) ?? '');
    if (asked.step !== 'create') return undefined;
    const { audio_url: url } = JSON.parse(asked.bytes.toString()) as { audio_url: string };
    const manner = this.#mannerAt(id, orderNameIn(this.#tasks[id]?.uploads.get(url)));
    switch (manner) {
      case 'refused':
        return { kind: 'status', status: 503 };
      case 'rejected':
        return { kind: 'status', status: 400, error: 'Invalid endpoint schema' };
      case 'accepted and reset':
        return { kind: 'fault', fault: 'reset after accept' };
      case 'held':
        return { kind: 'answer', after: () => this.#hold('recordings') };
      case 'well':
      case 'asking held':
      case 'nothing heard':
      case 'failed':
      case 'broken off':
        return undefined;
    }
  }

  /** A task has been asked after, and is done when that has happened often enough. */
  #goOn(id: string, taskId: string): TaskScript | undefined {
    const [emulator, reads] = [this.#tasks[id], this.#reads.get(taskId) ?? 0];
    const task = emulator?.tasks.find((each) => each.id === taskId);
    this.#reads.set(taskId, reads + 1);
    if (emulator === undefined || task === undefined || id === 'endless') return undefined;
    const name = orderNameIn(task.audio);
    const manner = this.#mannerAt(id, name);
    if (manner === 'asking held' && reads === 0) return { kind: 'answer', after: () => this.#hold('readings') };
    if (reads < READS_UNTIL_DONE) return undefined;
    if (manner === 'failed') emulator.fail(taskId);
    else emulator.complete(taskId, { text: manner === 'nothing heard' ? null : textHeard(id, name) });
    return undefined;
  }

  #speak(id: string, { bytes }: Recorded): Script {
    const name = orderNameIn(bytes);
    const sound = soundNamed(name, this.#seconds.get(name) ?? 1);
    const half = sound.subarray(0, sound.length / 2);
    const manner = this.#mannerAt(id, name);
    switch (manner) {
      case 'refused':
      case 'rejected':
      case 'accepted and reset':
        return FAILURES[manner];
      case 'broken off':
        return { kind: 'sound', pieces: [half], end: 'reset' };
      case 'held':
        return { kind: 'sound', pieces: this.#heldAfter(half, sound.subarray(half.length)) };
      case 'well':
      case 'asking held':
      case 'nothing heard':
      case 'failed':
        return { kind: 'sound', pieces: [sound] };
    }
  }

  async *#heldAfter(first: Buffer, rest: Buffer): AsyncIterable<Buffer> {
    yield first;
    await this.#hold('speeches');
    yield rest;
  }

  #hold(kind: keyof Upstreams['holding']): Promise<void> {
    this.holding[kind]++;
    return this.#gate.promise;
  }

  #mannerAt(id: string, name: string): Manner {
    const manner = this.#manners.get(name) ?? 'well';
    return manner.endsWith('held') || id.startsWith('bad-') ? manner : 'well';
  }

  /** The operator's document. */
  get configuration(): unknown {
    const openAi = { ...this.#ears, ...this.#mouths };
    const dead = Array.from({ length: DEAD_UPSTREAMS }, (_, place) => `dead-${place}`);
    const upstreams = [
      ...Object.entries(openAi).map(([id, { url }]) => ({ id, vendor: 'openai', base_url: url })),
      ...Object.entries(this.#tasks).map(([id, { url }]) => ({
        id,
        vendor: 'assemblyai',
        base_url: url,
        api_key: TASKS_KEY,
      })),
      ...dead.map((id) => ({ id, vendor: 'openai', base_url: DEAD_ADDRESS })),
    ];
    return {
      upstreams: upstreams.map((upstream) => ({ ...upstream, priority: upstream.id.startsWith('bad') ? 10 : 1 })),
      models: [
        hearingModel('chaos/ear', ['ear']),
        hearingModel('chaos/tasks', ['tasks']),
        hearingModel('chaos/tasks-or-ear', ['bad-tasks', 'ear']),
        hearingModel('chaos/ear-or-tasks', ['bad-ear', 'tasks']),
        hearingModel(ENDLESS_MODEL, ['endless']),
        ...dead.map((id, place) => hearingModel(`chaos/nowhere-${place}`, [id])),
        voiceModel('chaos/voice-by-character', ['mouth'], 'character'),
        voiceModel('chaos/voice-by-second', ['mouth'], 'second'),
        voiceModel('chaos/bad-voice', ['bad-mouth', 'mouth'], 'second'),
      ],
    };
  }
}

/** Every request of the chaos names its order. */
function orderNameIn(bytes: unknown): string {
  const name = nameIn(Buffer.isBuffer(bytes) ? bytes : Buffer.from(String(bytes)));
  if (name === undefined) throw new Error('an upstream was asked for what nobody ordered');
  return name;
}

function hearingModel(id: string, upstreams: readonly string[]): unknown {
  return {
    id,
    modality: 'audio',
    owned_by: 'chaos',
    endpoints: ['transcriptions'],
    pricing: { mode: 'per_audio_second', credits: { per_second: CREDITS_PER_SECOND } },
    routes: upstreams.map((upstream) => ({ upstream, model: /ear|dead/.test(upstream) ? 'whisper-1' : 'universal-2' })),
  };
}

function voiceModel(id: string, upstreams: readonly string[], by: 'character' | 'second'): unknown {
  const pricing =
    by === 'character'
      ? { mode: 'per_k_char', credits: { base: CREDITS_PER_CHARACTER * 1000 } }
      : { mode: 'per_second', credits: { per_second: CREDITS_PER_SECOND } };
  const routes = upstreams.map((upstream) => ({ upstream, model: 'tts-1' }));
  return { id, modality: 'audio', owned_by: 'chaos', endpoints: ['audio_speech'], pricing, routes };
}
