import type { Samples } from './media.ts';

type Json = Record<string, unknown>;

/** How an interaction ends. */
export type Ending = 'completed' | 'policy' | 'failed' | 'incomplete' | 'budget_exceeded' | 'lost';

/** What an interaction's request gets: a document, or the bytes of a file. */
export type InteractionAnswer =
  | { readonly status: number; readonly document: Json }
  | { readonly status: number; readonly bytes: Buffer }
  | { readonly status: number; readonly location: string };

interface Task {
  readonly id: string;
  readonly body: Json;
  readonly ending: Ending;
  readonly isBackground: boolean;
  reads: number;
}

const FIELDS = [
  ...['model', 'input', 'system_instruction', 'generation_config', 'response_format', 'previous_interaction_id'],
  ...['background', 'store', 'stream', 'service_tier', 'tools', 'webhook_config', 'labels', 'safety_settings'],
];
const TASKS = ['text_to_video', 'image_to_video', 'reference_to_video', 'edit', 'extend', 'upscale'];
const PATH = /^\/v1beta\/interactions(?:\/([^/?]+))?(?:\?.*)?$/;
const FILE = /^\/(download\/)?v1beta\/files\/([^/:?]+):download\?alt=media$/;

export function isInteractionPath(path: string): boolean {
  return PATH.test(path) || FILE.test(path);
}

/** The vendor's interactions: what is made is kept, and can be had again by its id. */
export class Interactions {
  /** How often a task in the background is in progress before it is over. */
  readsUntilDone = 1;
  /** Whether work that could be answered at once is put in the background. */
  isSlow = false;
  activeMax = 24;
  /** The next end so, each one of these; then well. */
  readonly endings: Ending[] = [];
  /** Whether a file is behind a redirect on the same host. */
  hasRedirects = true;
  readonly tasks: Task[] = [];
  readonly #samples: Samples;

  constructor(samples: Samples) {
    this.#samples = samples;
  }

  answer(method: string, path: string, bytes: Buffer, origin: string): InteractionAnswer {
    const [, redirected, file] = FILE.exec(path) ?? [];
    if (file !== undefined && method === 'GET') return this.#file(file, redirected !== undefined);
    const [, id] = PATH.exec(path) ?? [];
    if (method === 'GET' && id !== undefined) return this.#read(id, origin);
    return method === 'POST' && id === undefined
      ? this.#create(bytes, origin)
      : refusal(404, 'not_found', 'Not found.');
  }

  #create(bytes: Buffer, origin: string): InteractionAnswer {
    const body: Json = JSON.parse(bytes.toString('utf8'));
    const fault = bodyFault(body);
    if (fault !== undefined) return refusal(400, 'invalid_request', fault);
    const active = this.tasks.filter(({ reads, isBackground }) => isBackground && reads <= this.readsUntilDone);
    if (active.length >= this.activeMax) return refusal(429, 'rate_limit_exceeded', 'Too many interactions.');
    const ending = this.endings.shift() ?? 'completed';
    const isBackground = body.background === true || this.isSlow;
    const task: Task = { id: `v1_${this.tasks.length + 1}`, body, ending, isBackground, reads: 0 };
    this.tasks.push(task);
    return { status: 200, document: isBackground ? head(task, 'in_progress') : this.#over(task, origin) };
  }

  #read(id: string, origin: string): InteractionAnswer {
    const task = this.tasks.find((each) => each.id === id && each.body.store !== false);
    if (task === undefined || task.ending === 'lost') return refusal(404, 'not_found', 'Interaction not found.');
    task.reads++;
    if (task.isBackground && task.reads <= this.readsUntilDone) {
      return { status: 200, document: head(task, task.reads === 1 ? 'queued' : 'in_progress') };
    }
    return { status: 200, document: this.#over(task, origin) };
  }

  #over(task: Task, origin: string): Json {
    const usage = { total_input_tokens: 7, total_output_tokens: 2, total_thought_tokens: 1, total_tokens: 10 };
    const input = { type: 'user_input', content: [{ type: 'text', text: 'marker' }] };
    if (task.ending === 'policy') {
      const errors = [{ code: 'content_policy_violation', message: 'The prompt violates the use policy.' }];
      return { ...head(task, 'failed'), steps: [input], errors, usage };
    }
    if (task.ending !== 'completed') return { ...head(task, task.ending), steps: [input], usage };
    const steps = [
      input,
      { type: 'thought', summary: [] },
      { type: 'model_output', content: this.#content(task, origin) },
    ];
    return { ...head(task, 'completed'), steps, usage };
  }

  #content({ id, body }: Task, origin: string): Json[] {
    const type = (body.response_format as Json | undefined)?.type;
    if (type === 'video')
      return [{ type, mime_type: 'video/mp4', uri: `${origin}/v1beta/files/${id}:download?alt=media` }];
    if (type !== 'audio') return [transcript(body)];
    const data = this.#samples.song.toString('base64');
    return [
      { type: 'text', text: '[[A0]]' },
      { type, mime_type: 'audio/mp3', data, sample_rate: 44_100, channels: 2 },
    ];
  }

  #file(id: string, isRedirected: boolean): InteractionAnswer {
    if (!this.tasks.some((task) => task.id === id)) return refusal(404, 'not_found', 'File not found.');
    if (this.hasRedirects && !isRedirected) {
      return { status: 302, location: `/download/v1beta/files/${id}:download?alt=media` };
    }
    return { status: 200, bytes: this.#samples.clip };
  }
}

function head({ id, body }: Task, status: string): Json {
  return { id, status, object: 'interaction', model: body.model, created: '2026-11-18T00:00:00Z' };
}

function transcript({ generation_config: config }: Json): Json {
  const { transcription_config: { mode } = {} } = (config ?? {}) as { transcription_config?: { mode?: unknown } };
  const word = (text: string, start_offset: string, end_offset: string) => ({
    type: 'word_info',
    text,
    start_offset,
    end_offset,
  });
  const annotations = [word('Hello', '0s', '0.400s'), word('there.', '0.5s', '0.9s')];
  return { type: 'text', text: 'Hello there.', ...(mode !== undefined && { annotations }) };
}

function bodyFault(body: Json): string | undefined {
  const unknown = Object.keys(body).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) return `Unknown parameter '${unknown}'.`;
  if (typeof body.model !== 'string') return 'model is required.';
  const input = typeof body.input === 'string' ? [{ type: 'text', text: body.input }] : body.input;
  if (!Array.isArray(input) || input.length === 0)
    return '* GenerateContentRequest.contents: contents is not specified';
  if (body.background === true && body.store === false) return 'background needs store.';
  return input.map(contentFault).find((fault) => fault !== undefined) ?? modelFault(body, input);
}

function contentFault(content: Json): string | undefined {
  if (content.type === 'text')
    return typeof content.text === 'string' && content.text !== '' ? undefined : 'empty text';
  if (!['image', 'audio', 'video'].includes(String(content.type)))
    return `Unknown content type ${String(content.type)}.`;
  const isMedia = typeof content.data === 'string' && /^[\w+/]+={0,2}$/.test(content.data);
  return isMedia && typeof content.mime_type === 'string' ? undefined : 'data must be base64 with a mime_type.';
}

/** Each model takes its own kind of work. */
function modelFault(body: Json, input: readonly Json[]): string | undefined {
  const format = (body.response_format ?? {}) as Json;
  const config = (body.generation_config ?? {}) as Json;
  const model = String(body.model);
  if (/omni/.test(model)) return clipFault(format, (config.video_config ?? {}) as Json, input);
  if (/lyria/.test(model)) return format.type === 'audio' && format.mime_type === undefined ? undefined : 'audio only.';
  if (!/transcribe/.test(model)) return 'The model is not available here.';
  return input.length === 1 && input[0]?.type === 'audio' ? undefined : 'exactly one audio is needed.';
}

function clipFault(format: Json, { task = 'text_to_video' }: Json, input: readonly Json[]): string | undefined {
  const { type, aspect_ratio = '16:9', duration = '8s', resolution = '720p', delivery = 'inline', ...others } = format;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `Unknown parameter 'response_format.${unknown}'.`;
  const seconds = Number(/^(\d+)s$/.exec(String(duration))?.[1]);
  const isFormat =
    type === 'video' &&
    ['16:9', '9:16'].includes(String(aspect_ratio)) &&
    ['360p', '720p', '1080p', '4k'].includes(String(resolution)) &&
    ['inline', 'uri'].includes(String(delivery)) &&
    seconds >= 3 &&
    seconds <= 10;
  if (!isFormat) return 'response_format is invalid.';
  if (!TASKS.includes(String(task))) return 'Unknown task.';
  const count = (kind: string) => input.filter((content) => content.type === kind).length;
  const wanted: Record<string, boolean> = {
    text_to_video: count('image') + count('video') === 0,
    image_to_video: count('image') >= 1 && count('image') <= 2 && count('video') === 0,
    reference_to_video: count('image') >= 1 && count('image') <= 3 && count('video') === 0,
    edit: count('video') === 1 && count('image') === 0,
  };
  return wanted[String(task)] === true ? undefined : `The input does not fit ${String(task)}.`;
}

function refusal(status: number, code: string, message: string): InteractionAnswer {
  return { status, document: { error: { code, message } } };
}
