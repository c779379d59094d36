import type { PlaygroundEndpoint } from '../../api/endpoints.ts';
import type { Field, FieldName } from './fields.ts';

/** A file that was uploaded, or an address that stands for one. */
export interface Upload {
  readonly url: string;
  readonly name: string;
  readonly mimeType: string;
}

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

export type FieldValue = string | number | boolean | readonly Upload[];

/** What a person has filled in. Fields of another model stay in it, and are not sent. */
export interface Draft {
  readonly fields: Readonly<Partial<Record<FieldName, FieldValue>>>;
  /** Further fields, as JSON. */
  readonly more: string;
  readonly system: string;
  readonly turns: readonly Turn[];
  /** What is said next in a chat. */
  readonly message: string;
  /** The sound of a transcription: it travels beside the body. */
  readonly clip?: File | undefined;
}

export const EMPTY_DRAFT: Draft = { fields: {}, more: '', system: '', turns: [], message: '' };

export type Body = Readonly<Record<string, unknown>>;

/** Undefined where the further fields are no JSON object. */
export function parseMore(more: string): Body | undefined {
  if (more.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(more);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Body) : undefined;
  } catch {
    return undefined;
  }
}

/** The body of the call, with those fields that the model offers. */
export function bodyOf(endpoint: PlaygroundEndpoint, model: string, fields: readonly Field[], draft: Draft): Body {
  const entries = fields.flatMap((field) => {
    const value = wireValue(field, draft.fields[field.name]);
    return value === undefined ? [] : [[field.name, value] as const];
  });
  return { model, ...Object.fromEntries(entries), ...fixedFields(endpoint, draft), ...parseMore(draft.more) };
}

function wireValue(field: Field, value: FieldValue | undefined): unknown {
  switch (field.kind) {
    case 'text':
      return typeof value === 'string' && value.trim() !== '' ? value : undefined;
    case 'choice':
      return typeof value === 'string' && field.options.includes(value) ? value : undefined;
    case 'number':
      return typeof value === 'number' ? value : undefined;
    case 'flag':
      return value === true ? true : undefined;
    case 'media': {
      const urls = Array.isArray(value) ? value.map(({ url }: Upload) => url) : [];
      return field.isList ? (urls.length === 0 ? undefined : urls) : urls[0];
    }
  }
}

function fixedFields(endpoint: PlaygroundEndpoint, draft: Draft): Body {
  if (endpoint === 'chat') {
    return { messages: messagesOf(draft), stream: true, stream_options: { include_usage: true } };
  }
  return endpoint === 'transcriptions'
    ? { response_format: 'verbose_json', timestamp_granularities: ['segment', 'word'] }
    : {};
}

function messagesOf({ system, turns, message }: Draft) {
  const next = message.trim() === '' ? [] : [{ role: 'user', content: message }];
  return [...(system.trim() === '' ? [] : [{ role: 'system', content: system }]), ...turns, ...next];
}

/** The first field that has to be filled in still; 'message' and 'clip' are those of chats and transcriptions. */
export function missingField(
  endpoint: PlaygroundEndpoint,
  fields: readonly Field[],
  draft: Draft,
): FieldName | 'message' | 'clip' | undefined {
  if (endpoint === 'chat') return draft.message.trim() === '' ? 'message' : undefined;
  if (endpoint === 'transcriptions') return draft.clip === undefined ? 'clip' : undefined;
  // A clip can be made from words or from media, and from one of them it must be.
  if (endpoint === 'videos') {
    const sources = fields.filter(({ kind, name }) => kind === 'media' || name === 'prompt');
    const hasSource = sources.some((field) => wireValue(field, draft.fields[field.name]) !== undefined);
    return hasSource ? undefined : 'prompt';
  }
  const required = fields.filter((field) => 'isRequired' in field && field.isRequired === true);
  return required.find((field) => wireValue(field, draft.fields[field.name]) === undefined)?.name;
}

const FIXED = new Set(['model', 'messages', 'stream', 'stream_options', 'timestamp_granularities']);
const ALIASES: Readonly<Record<string, string>> = { image: 'reference_images', images: 'reference_images' };

/** The form filled in as a call was made: what it has no field for goes to the further fields. */
export function draftOf(endpoint: PlaygroundEndpoint, fields: readonly Field[], body: Body): Draft {
  const filled: Partial<Record<FieldName, FieldValue>> = {};
  const more: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(body)) {
    const field = fields.find(({ name }) => name === (ALIASES[key] ?? key));
    const isFixed = FIXED.has(key) || (endpoint === 'transcriptions' && key === 'response_format');
    if (field !== undefined) filled[field.name] = formValue(field, value);
    else if (!isFixed) more[key] = value;
  }
  const text = Object.keys(more).length === 0 ? '' : JSON.stringify(more, undefined, 2);
  return { ...EMPTY_DRAFT, fields: filled, more: text, ...conversationOf(body.messages) };
}

function formValue(field: Field, value: unknown): FieldValue {
  if (field.kind === 'media') return [value].flat().flatMap(uploadOf);
  return typeof value === 'number' || typeof value === 'boolean' ? value : String(value);
}

function uploadOf(reference: unknown): readonly Upload[] {
  const url = typeof reference === 'object' && reference !== null && 'url' in reference ? reference.url : reference;
  if (typeof url !== 'string') return [];
  const name = URL.parse(url)?.pathname.split('/').at(-1) ?? url.slice(0, 40);
  return [{ url, name, mimeType: '' }];
}

function conversationOf(messages: unknown): Partial<Draft> {
  if (!Array.isArray(messages)) return {};
  const plain = messages.filter(
    (message): message is { role: string; content: string } => typeof message?.content === 'string',
  );
  const system = plain.find(({ role }) => role === 'system')?.content ?? '';
  const turns = plain.filter((turn): turn is Turn => turn.role === 'user' || turn.role === 'assistant');
  const last = turns.at(-1);
  return last?.role === 'user'
    ? { system, turns: turns.slice(0, -1), message: last.content }
    : { system, turns, message: '' };
}

/** What a chat was told last. */
export function lastMessage({ messages }: Body): string {
  const last: unknown = Array.isArray(messages) ? messages.at(-1)?.content : undefined;
  return typeof last === 'string' ? last : '';
}
