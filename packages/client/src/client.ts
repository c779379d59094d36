import { Chat } from './chat.ts';
import type {
  Asset,
  CreditBalance,
  EmbeddingRequest,
  Embeddings,
  Estimate,
  EstimateRequest,
  ImageEditRequest,
  ImageRequest,
  Job,
  Model,
  SoundRequest,
  File as StoredFile,
  Transcription,
  TranscriptionRequest,
  VideoRequest,
} from './contract.ts';
import { formWith, type Upload, type UploadName } from './form.ts';
import { type CreateOptions, downloadOf, Jobs, JobWork, type Outcome, type WaitOptions } from './jobs.ts';
import { type Media, mediaOf } from './media.ts';
import { type CallOptions, type TollgateOptions, Transport } from './transport.ts';

export type AwaitedOptions = CreateOptions & WaitOptions;

/** Work that makes a job: make it, or make it and wait for what it makes. */
export interface Generating<Request> {
  generate(request: Request, options?: CreateOptions): Promise<Job>;
  generateAndWait(request: Request, options?: AwaitedOptions): Promise<Outcome>;
}

export interface Editing {
  edit(request: ImageEditRequest, options?: CreateOptions): Promise<Job>;
  editAndWait(request: ImageEditRequest, options?: AwaitedOptions): Promise<Outcome>;
}

export type TranscriptionParams = TranscriptionRequest & {
  /** The sound itself, or else `url`. */
  readonly file?: Upload | undefined;
  readonly filename?: string | undefined;
  /** `verbose_json` adds the language, the length and the times. */
  readonly response_format?: 'json' | 'verbose_json' | undefined;
};

/** Vectors as numbers. */
export type EmbeddingAnswer = Omit<Embeddings, 'data'> & {
  readonly data: readonly { readonly index: number; readonly embedding: readonly number[] }[];
};

/** A gateway, as an API key or an access token sees it. */
export class Tollgate {
  readonly chat: Chat;
  readonly images: Generating<ImageRequest> & Editing;
  readonly videos: Generating<VideoRequest>;
  readonly music: Generating<SoundRequest>;
  readonly jobs: Jobs;
  readonly #transport: Transport;

  constructor(options: TollgateOptions) {
    this.#transport = new Transport(options);
    this.chat = new Chat(this.#transport);
    this.jobs = new Jobs(this.#transport);
    const work = new JobWork(this.#transport, this.jobs);
    this.images = { ...generating(work, '/v1/images/generations'), ...editing(work) };
    this.videos = generating(work, '/v1/videos');
    this.music = generating(work, '/v1/audio/music');
  }

  /** Reads text aloud. The sound begins to come before all of it is spoken. */
  async speak(request: SoundRequest, options: CallOptions = {}): Promise<Media> {
    const json = { ...request, output: 'binary' };
    return mediaOf(await this.#transport.send('POST', '/v1/audio/speech', { ...options, json }), options.signal);
  }

  /** Turns sound into text. */
  transcribe({ file, filename, ...fields }: TranscriptionParams, options: CallOptions = {}): Promise<Transcription> {
    const path = '/v1/audio/transcriptions';
    if (file === undefined) return this.#transport.json('POST', path, { ...options, json: fields });
    return this.#transport.json('POST', path, { ...options, ...formWith(file, { filename }, textFields(fields)) });
  }

  /** Turns texts into vectors, in the order of the texts. */
  embed(request: EmbeddingRequest, options: CallOptions = {}): Promise<EmbeddingAnswer> {
    return this.#transport.json('POST', '/v1/embeddings', { ...options, json: request });
  }

  /** Keeps media for a day. The `url` of the answer may stand wherever a request takes media. */
  upload(file: Upload, options: UploadName & CallOptions & { readonly purpose?: string } = {}): Promise<StoredFile> {
    const { filename, type, purpose, ...call } = options;
    const fields = purpose === undefined ? [] : [['purpose', purpose] as const];
    // It costs nothing, and what is kept twice goes after a day.
    const sending = { isRepeatable: true, ...call, ...formWith(file, { filename, type }, fields) };
    return this.#transport.json('POST', '/v1/files', sending);
  }

  /** What a link leads to, such as an asset of a job. No credential is sent along. */
  download(asset: Pick<Asset, 'url'>, options: CallOptions = {}): Promise<Media> {
    return downloadOf(this.#transport, asset, options);
  }

  /** The models that this key may call, with their prices. */
  async models(options: CallOptions = {}): Promise<readonly Model[]> {
    const { data } = await this.#transport.json<{ readonly data: readonly Model[] }>('GET', '/v1/models', options);
    return data;
  }

  /** What a call would reserve; its body with `endpoint`. Free. */
  estimate(request: EstimateRequest, options: CallOptions = {}): Promise<Estimate> {
    return this.#transport.json('POST', '/v1/estimate', { ...options, json: request, isRepeatable: true });
  }

  /** What the account can spend. */
  credits(options: CallOptions = {}): Promise<CreditBalance> {
    return this.#transport.json('GET', '/v1/credits', options);
  }
}

function generating<Request>(work: JobWork, path: string): Generating<Request> {
  return {
    generate: (request, options = {}) => work.create(path, request, options),
    generateAndWait: (request, options = {}) => work.createAndWait(path, request, options),
  };
}

function editing(work: JobWork): Editing {
  const path = '/v1/images/edits';
  return {
    edit: (request, options = {}) => work.create(path, request, options),
    editAndWait: (request, options = {}) => work.createAndWait(path, request, options),
  };
}

/** A list becomes several fields of the same name. */
function textFields(fields: Readonly<Record<string, unknown>>): (readonly [string, string])[] {
  return Object.entries(fields).flatMap(([name, value]): (readonly [string, string])[] => {
    if (value === undefined || value === null) return [];
    const written = (one: unknown) => (typeof one === 'string' ? one : JSON.stringify(one));
    return Array.isArray(value) ? value.map((one) => [`${name}[]`, written(one)]) : [[name, written(value)]];
  });
}
