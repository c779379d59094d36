import { json, jsonIn } from '../emulator/json.ts';
import type { Recorded } from '../emulator/recording-server.ts';
import type { Answer } from '../emulator/scripted-server.ts';
import { TaskServer } from '../emulator/task-server.ts';
import { MODELS, type Model, modelOfVersion, problemsOf } from './emulator/models.ts';
import { contentIn } from './emulator/uploads.ts';

/** How a prediction ends: well, with this error, or stopped. */
export type Ending = 'succeeded' | { readonly error: string } | 'canceled' | 'aborted';

interface Prediction {
  readonly id: string;
  readonly model: string;
  readonly kind: Model['output'];
  readonly input: Readonly<Record<string, unknown>>;
  ending: Ending;
  readonly createdAt: string;
  reads: number;
}

const OF_MODEL = /^\/v1\/(models|deployments)\/([\w-]+\/[\w.-]+)\/predictions$/;
const OF_PREDICTION = /^\/v1\/predictions\/([\w-]+)$/;
const CANCEL = /^\/v1\/predictions\/([\w-]+)\/cancel$/;
const DELIVERY = /^\/delivery\/([\w-]+)\/\d+$/;
const PAGE = 100;
const MODELS_PER_PAGE = 5;

/**
 * The vendor's API, its predictions and the host of its results in one. It refuses what the vendor would refuse, and has an
 * account of its own: credit that runs out, and a pace that it may be asked at.
 */
export class ReplicateEmulator extends TaskServer {
  hasCredit = true;
  isThrottled = false;
  /** Connections are held as long as is asked for, and the prediction is not over by then. */
  isSlow = false;
  /** An hour has passed: nothing is left of any prediction but that it was. */
  areDataRemoved = false;
  isListDown = false;
  createdAt = '2099-01-01T00:00:00.000Z';
  /** The next predictions end so, each one of these; then well. */
  readonly endings: Ending[] = [];
  /** Where results lie; here where undefined. */
  deliveryUrl: string | undefined;
  readonly uploads: File[] = [];
  readonly #apiKey: string;
  readonly #result: Buffer;
  readonly #predictions = new Map<string, Prediction>();

  constructor(apiKey: string, result: Buffer) {
    super((request) => this.#answer(request));
    this.#apiKey = apiKey;
    this.#result = result;
  }

  override get url(): string {
    return `${this.origin}/v1`;
  }

  /** The bodies of all submissions. */
  override get submissions(): { readonly version?: string; readonly input: Readonly<Record<string, unknown>> }[] {
    return this.sent('POST', /predictions$/).map(({ bytes }) => JSON.parse(bytes.toString()));
  }

  async #answer(request: Recorded): Promise<Answer> {
    const { method, path, headers } = request;
    const [, delivered] = DELIVERY.exec(path) ?? [];
    if (delivered !== undefined) return this.#download(delivered, headers.authorization !== undefined);
    if (headers.authorization !== `Bearer ${this.#apiKey}`) {
      return problem(401, 'Unauthenticated', 'You did not pass a valid authentication token');
    }
    const { pathname, searchParams } = new URL(path, this.origin);
    if (method === 'POST') return this.#post(pathname, request);
    if (method !== 'GET') return problem(405, 'Method not allowed', 'Method not allowed');
    if (pathname === '/v1/account') return json(200, { type: 'organization', username: 'acme', name: 'Acme' });
    if (pathname === '/v1/models') return this.#models(Number(searchParams.get('cursor') ?? 0));
    if (pathname === '/v1/predictions') return this.#list(searchParams);
    const [, id] = OF_PREDICTION.exec(pathname) ?? [];
    return id === undefined ? notFound() : this.#read(id);
  }

  #models(from: number): Answer {
    const all = [...MODELS.keys()].map((place) => {
      const [owner, name] = place.split('/');
      return { url: `https://replicate.com/${place}`, owner, name, visibility: 'public' };
    });
    const [results, end] = [all.slice(from, from + MODELS_PER_PAGE), from + MODELS_PER_PAGE];
    return json(200, { previous: null, next: end < all.length ? `${this.url}/models?cursor=${end}` : null, results });
  }

  async #post(pathname: string, request: Recorded): Promise<Answer> {
    if (pathname === '/v1/files') return this.#upload(request);
    const [, canceled] = CANCEL.exec(pathname) ?? [];
    if (canceled !== undefined) return this.#cancel(canceled);
    const [, place, name] = OF_MODEL.exec(pathname) ?? [];
    if (place === undefined && pathname !== '/v1/predictions') return notFound();
    const body = jsonIn(request);
    if (body === undefined) return problem(400, 'Bad request', 'The request body is not valid JSON');
    return this.#submit(place === undefined ? undefined : name, body, request);
  }

  #submit(name: string | undefined, body: Readonly<Record<string, unknown>>, { headers }: Recorded): Answer {
    const { version, input, ...others } = body;
    const unknown = Object.keys(others).find((key) => key !== 'webhook' && key !== 'webhook_events_filter');
    const of = name ?? modelOfVersion(version);
    const model = of === undefined ? undefined : MODELS.get(of);
    if (name === undefined && model?.isVersioned !== true) {
      return problem(422, 'Invalid version or not permitted', 'The specified version does not exist');
    }
    if (of === undefined || model === undefined || (name !== undefined && model.isVersioned === true))
      return notFound();
    const problems = [
      ...(unknown === undefined ? [] : [`- ${unknown}: Additional property is not allowed`]),
      ...(name !== undefined && version !== undefined ? ['- version: Additional property is not allowed'] : []),
      ...problemsOf(model, input),
    ];
    if (problems.length > 0) return problem(422, 'Input validation failed', problems.join('\n'));
    if (!isHold(headers.prefer) || !isSpan(headers['cancel-after']))
      return problem(400, 'Bad request', 'Invalid header');
    if (!this.hasCredit) return problem(402, 'Insufficient credit', 'You have insufficient credit to run this model.');
    if (this.isThrottled) return json(429, { detail: 'Request was throttled. Your rate limit resets in ~30s.' });
    return this.#begin(of, model, input as Prediction['input'], headers.prefer !== undefined);
  }

  #begin(name: string, model: Model, input: Prediction['input'], isHeld: boolean): Answer {
    const id = `prediction-${this.#predictions.size + 1}`;
    const ending = this.endings.shift() ?? 'succeeded';
    const { createdAt } = this;
    const prediction: Prediction = { id, model: name, kind: model.output, input, ending, createdAt, reads: 0 };
    this.#predictions.set(id, prediction);
    const isDone = isHeld && !this.isSlow;
    if (isDone) prediction.reads = this.readsUntilDone + 1;
    return json(isHeld && !isDone ? 202 : 201, this.#view(prediction));
  }

  #read(id: string): Answer {
    const prediction = this.#predictions.get(id);
    if (prediction === undefined) return notFound();
    prediction.reads++;
    return json(200, this.#view(prediction));
  }

  #cancel(id: string): Answer {
    const prediction = this.#predictions.get(id);
    if (prediction === undefined) return notFound();
    prediction.ending = 'canceled';
    prediction.reads = this.readsUntilDone + 1;
    return json(200, this.#view(prediction));
  }

  /** Newest first, in pages. */
  #list(query: URLSearchParams): Answer {
    if (this.isListDown) return problem(503, 'Service unavailable', 'Try again later');
    const since = query.get('created_after');
    const all = [...this.#predictions.values()]
      .reverse()
      .filter(({ createdAt }) => since === null || createdAt > since);
    const from = Number(query.get('cursor') ?? 0);
    query.set('cursor', String(from + PAGE));
    const next = from + PAGE < all.length ? `${this.url}/predictions?${query.toString()}` : null;
    return json(200, { previous: null, next, results: all.slice(from, from + PAGE).map((each) => this.#view(each)) });
  }

  #view({ id, model, kind, input, ending, createdAt, reads }: Prediction): object {
    const isOver = reads > this.readsUntilDone;
    const status = typeof ending === 'string' ? ending : 'failed';
    const atWork = reads === 0 ? 'starting' : 'processing';
    const output = isOver && status === 'succeeded' ? this.#output(id, kind, input) : null;
    return {
      id,
      model,
      version: 'hidden',
      input: this.areDataRemoved ? {} : input,
      output: this.areDataRemoved ? null : output,
      error: isOver && typeof ending !== 'string' ? ending.error : null,
      logs: '',
      status: isOver ? status : atWork,
      source: 'api',
      data_removed: this.areDataRemoved,
      created_at: createdAt,
      ...(isOver && { metrics: { predict_time: 2.5, total_time: 3 } }),
      urls: { get: `${this.url}/predictions/${id}`, cancel: `${this.url}/predictions/${id}/cancel` },
    };
  }

  #output(id: string, kind: Model['output'], { num_outputs: count = 1 }: Prediction['input']): unknown {
    const at = (place: number) => this.deliveryUrl ?? `${this.origin}/delivery/${id}/${place}`;
    switch (kind) {
      case 'file':
        return at(0);
      case 'files':
        return Array.from({ length: Number(count) }, (_, place) => at(place));
      case 'pieces':
        return ['Pay ', 'here.'];
      case 'chunks':
        return { text: 'Pay here.', chunks: [{ text: ' Pay here.', timestamp: [0, 1.5] }] };
      case 'whisper': {
        const segments = [{ id: 0, start: 0, end: 1.5, text: ' Pay here.', no_speech_prob: 0.01 }];
        return { segments, transcription: 'Pay here.', translation: null, detected_language: 'english' };
      }
    }
  }

  async #upload({ headers, bytes }: Recorded): Promise<Answer> {
    const content = await contentIn(headers['content-type'], bytes);
    if (content === undefined) return problem(400, 'Bad request', 'Missing content');
    this.uploads.push(content);
    const get = `${this.url}/files/file-${this.uploads.length}`;
    return json(201, {
      id: `file-${this.uploads.length}`,
      content_type: content.type,
      size: content.size,
      urls: { get },
    });
  }

  /** The host of results needs no key, and must never see it. */
  #download(id: string, hasKey: boolean): Answer {
    if (hasKey) return { status: 400, body: 'a credential that does not belong here' };
    if (this.areLinksDead || !this.#predictions.has(id)) return { status: 404, body: '' };
    return { status: 200, headers: { 'content-type': 'application/octet-stream' }, body: this.#result };
  }
}

function isHold(prefer: string | string[] | undefined): boolean {
  if (prefer === undefined || prefer === 'wait') return true;
  const seconds = Number(/^wait=(\d+)$/.exec(String(prefer))?.[1]);
  return seconds >= 1 && seconds <= 60;
}

function isSpan(span: string | string[] | undefined): boolean {
  return span === undefined || /^\d+[smh]$/.test(String(span));
}

function notFound(): Answer {
  return json(404, { detail: 'The requested resource could not be found.', status: 404 });
}

function problem(status: number, title: string, detail: string): Answer {
  return json(status, { title, detail, status });
}
