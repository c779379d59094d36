// The cases of a campaign: each follows from the seed and its number alone, but for the ids of what exists by then.
import { Random } from '../../packages/verify/src/random.ts';
import type { Ending } from './client.ts';
import type { Credentials } from './credentials.ts';
import { encoded, tortureJson } from './json-corpus.ts';
import { knownFields, type Surroundings } from './known-fields.ts';
import { samplesOf, spoiledSample } from './media-corpus.ts';
import { type FormPart, spoiledForm, wholeForm } from './multipart-corpus.ts';
import type { Operation } from './operations.ts';
import { pageDraft } from './pages.ts';
import { bytesOf, chunked, type Draft } from './request-text.ts';
import { type Schema, schemaValue } from './schema-values.ts';
import { type KnownId, targetOf } from './targets.ts';
import { wireCase } from './wire-corpus.ts';
import { toWritten, Verbatim, type Written, writeJson } from './written.ts';

export const CORPORA = { valid: 25, near: 40, json: 8, form: 9, media: 6, path: 5, header: 4, page: 4, wire: 3 };
export type Corpus = keyof typeof CORPORA;

export interface Case {
  readonly number: number;
  readonly corpus: Corpus;
  /** As the contract names it. */
  readonly operation: string;
  readonly method: string;
  readonly target: string;
  readonly pieces: readonly Buffer[];
  /** `answer`: exactly one, after which the connection may go on; else the connection is its own and left like this. */
  readonly ending: 'answer' | Ending;
}

/** What cases are made of. */
export interface Ground {
  readonly operations: readonly Operation[];
  readonly components: Readonly<Record<string, Schema>>;
  readonly surroundings: Surroundings;
  readonly credentials: Credentials;
  readonly knownId: KnownId;
  /** The operator's document in force. */
  readonly configuration: unknown;
}

const CONTENT_TYPES = [
  ...['application/json', 'application/json; charset=utf-8', 'application/json;charset=utf-16', 'APPLICATION/JSON'],
  ...['application/vnd.api+json', 'text/plain', 'text/json', 'application/x-www-form-urlencoded', 'image/png', '', ';'],
  ...[
    'application/',
    'multipart/form-data',
    'application/json, text/plain',
    'application/yaml',
    '\xe9/\xff',
    'a/b;c="',
  ],
];

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'QUERY', 'PROPFIND'];

export function caseOf(seed: number, number: number, ground: Ground): Case {
  const random = new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca77));
  const corpus = random.weighted(CORPORA);
  if (corpus === 'wire') {
    const { pieces, ending } = wireCase(random, ground.credentials.headerLine(random));
    return { number, corpus, operation: 'wire', method: '', target: '', pieces, ending };
  }
  if (corpus === 'page') {
    const draft = pageDraft(ground.credentials, random);
    const [operation = ''] = `${draft.method} ${draft.target}`.split('?', 1);
    return { number, corpus, operation, ...draft, pieces: [bytesOf(draft)], ending: 'answer' };
  }
  const operation = pickOperation(operationsFor(corpus, ground.operations), random);
  const draft = draftOf(corpus, operation, ground, random);
  if (corpus === 'header') spoilHeaders(draft, random);
  const { method, target } = draft;
  // What may be read as two requests, or as none, gets a connection of its own.
  const ending = corpus === 'header' ? 'half-close' : 'answer';
  const name = `${operation.method} ${operation.path}`;
  return { number, corpus, operation: name, method, target, pieces: [bytesOf(draft)], ending };
}

/** They read all that ever happened: in a long campaign the database would do little else. */
const REPORTS = /^\/(v1\/usage|api\/(admin|console)\/(overview|usage|requests|books))$/;
const REPORT_SHARE = 0.1;

function pickOperation(operations: readonly Operation[], random: Random): Operation {
  const operation = random.pick(operations);
  if (!REPORTS.test(operation.path) || random.chance(REPORT_SHARE)) return operation;
  return random.pick(operations.filter(({ path }) => !REPORTS.test(path)));
}

function operationsFor(corpus: Corpus, operations: readonly Operation[]): readonly Operation[] {
  if (corpus === 'json') return operations.filter(({ schema }) => schema !== undefined);
  if (corpus === 'form' || corpus === 'media') return operations.filter(({ takesForm }) => takesForm);
  // What costs credits and reaches an upstream is asked for more often.
  if (corpus === 'valid' || corpus === 'near')
    return [...operations, ...Array(3).fill(operations.filter(isCall)).flat()];
  return operations;
}

function isCall({ method, path }: Operation): boolean {
  return method === 'POST' && /^\/v1(beta)?\/|\/run\//.test(path);
}

function draftOf(corpus: Corpus, operation: Operation, ground: Ground, random: Random): Draft {
  const method = corpus === 'path' && random.chance(0.3) ? random.pick(METHODS) : operation.method;
  const target = targetOf(operation, ground.knownId, random, corpus === 'path');
  const draft: Draft = { method, target, headers: ground.credentials.headersFor(operation, random), body: undefined };
  addBody(draft, corpus, operation, ground, random);
  if (draft.body !== undefined && random.chance(0.05)) {
    draft.body = chunked(draft.body, random.pick([1_000, 10_000, 100_000]));
    draft.headers.push(['Transfer-Encoding', 'chunked']);
  }
  return draft;
}

function addBody(draft: Draft, corpus: Corpus, operation: Operation, ground: Ground, random: Random): void {
  const { schema, takesForm, takesText } = operation;
  if (schema === undefined && !takesForm) {
    if (random.chance(0.05)) draft.body = tortureJson(random);
    return;
  }
  const isForm = takesForm && (schema === undefined || corpus === 'form' || corpus === 'media' || random.chance(0.3));
  if (isForm) {
    const parts = partsOf(operation, ground, random);
    const { contentType, body } = corpus === 'form' ? spoiledForm(parts, random) : wholeForm(parts);
    draft.headers.push(['Content-Type', contentType]);
    draft.body = body;
    return;
  }
  const contentType = corpus === 'near' && random.chance(0.05) ? random.pick(CONTENT_TYPES) : 'application/json';
  draft.headers.push(['Content-Type', contentType]);
  if (corpus === 'json') draft.body = tortureJson(random);
  else {
    const isFaulty = corpus === 'near';
    const value = takesText ? configurationOf(ground, random, isFaulty) : jsonOf(operation, ground, random, isFaulty);
    draft.body = isFaulty ? encoded(writeJson(value), random) : Buffer.from(writeJson(value));
  }
}

function jsonOf({ path, schema = {} }: Operation, ground: Ground, random: Random, isFaulty: boolean): Written {
  if (path.startsWith('/v1beta/')) return nativeBody(ground, random, isFaulty);
  const known = knownFields(path, ground.surroundings);
  const value = schemaValue(schema, { random, known, components: ground.components }, isFaulty);
  return isFaulty && random.chance(0.1) ? spoiledTree(value, random) : value;
}

/** The format passes most of it on, so that the contract has no schema for it. */
const NATIVE: Schema = {
  type: 'object',
  properties: {
    contents: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: {
          role: { enum: ['user', 'model'] },
          parts: {
            type: 'array',
            minItems: 1,
            items: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
          },
        },
        required: ['parts'],
      },
    },
    generationConfig: {
      type: 'object',
      properties: { maxOutputTokens: { type: 'integer', minimum: 1 }, candidateCount: { type: 'integer', minimum: 1 } },
    },
    systemInstruction: { type: 'object' },
    tools: { type: 'array', items: { type: 'object' } },
  },
  required: ['contents'],
};

function nativeBody({ components }: Ground, random: Random, isFaulty: boolean): Written {
  return schemaValue(NATIVE, { random, known: () => undefined, components }, isFaulty);
}

/** The document in force, with one value of it changed. */
function configurationOf({ configuration, components }: Ground, random: Random, isFaulty: boolean): Written {
  const written = toWritten(configuration);
  return isFaulty ? spoiledTree(written, random, components) : written;
}

/** Some value in it becomes a hostile one. */
function spoiledTree(value: Written, random: Random, components: Ground['components'] = {}): Written {
  const rules = { random, known: () => undefined, components };
  const text = writeJson(value);
  const places = [...text.matchAll(/(?<=[:[,])(?:"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null)(?=[,\]}])/g)];
  const place = places.length === 0 ? undefined : random.pick(places);
  const spoiled = writeJson(schemaValue({}, rules, true));
  if (place === undefined) return value;
  const at = place.index;
  return new Verbatim(text.slice(0, at) + spoiled + text.slice(at + place[0].length));
}

function partsOf(operation: Operation, ground: Ground, random: Random): FormPart[] {
  const { samples } = ground.surroundings;
  const file = (kind: 'image' | 'audio' = 'image') => spoiledSample(samplesOf(kind, samples, random), random);
  const model = () => random.pick(ground.surroundings.models(operation.path));
  if (operation.path.endsWith('/files'))
    return [
      { name: 'purpose', value: 'user_data' },
      { name: 'file', value: file() },
    ];
  const parts: FormPart[] = [{ name: 'model', value: model() }];
  if (operation.path.endsWith('/edits')) {
    parts.push({ name: 'prompt', value: 'More red' }, { name: random.pick(['image', 'image[]']), value: file() });
    if (random.chance(0.2)) parts.push({ name: 'mask', value: file() });
  } else if (operation.path.endsWith('/videos')) {
    parts.push({ name: 'prompt', value: 'A ball' }, { name: 'seconds', value: '1' });
    parts.push({ name: 'input_reference', value: file() });
  } else {
    parts.push(
      { name: 'file', value: file('audio') },
      { name: 'response_format', value: random.pick(['json', 'verbose_json']) },
    );
  }
  if (random.chance(0.2)) parts.push({ name: random.pick(['n', 'temperature', 'stream', 'user']), value: '1' });
  return parts;
}

function spoilHeaders(draft: Draft, random: Random): void {
  const { headers } = draft;
  const twice = headers.length > 0 ? random.pick(headers) : undefined;
  const strange: [string, string][] = [
    ['Content-Length', random.pick(['0', '1', '5', '99999999', '-1', 'x'])],
    ['Transfer-Encoding', random.pick(['chunked', 'gzip', 'identity', 'chunked, chunked'])],
    ['Content-Type', random.pick(CONTENT_TYPES)],
    ['Content-Encoding', random.pick(['gzip', 'br', 'identity', 'x', ''])],
    ['Expect', random.pick(['100-continue', 'nothing'])],
    ['X-Request-Id', random.pick(['', 'x'.repeat(128), 'x'.repeat(129), '\xe9', 'a b', '\x01'])],
    ['Idempotency-Key', random.pick(['', 'k', 'k'.repeat(512), 'k'.repeat(513), '\xe9\xff', '\t'])],
    ['Accept', random.pick(['text/event-stream', 'x', '*/*', 'text/csv', 'application/json;q=0'])],
    ['Range', random.pick(['bytes=0-', 'bytes=-0', 'bytes=9-1', 'bytes=0-0,2-3', 'x', 'bytes=99999999999999999999-'])],
    ['If-None-Match', random.pick(['*', '"x"', 'W/"x', ''])],
    ['Host', 'other.test'],
    ['Cookie', random.pick(['tollgate_session=', '=;;=', 'tollgate_session=x; tollgate_session=y', 'c'.repeat(9_000)])],
    [
      'Authorization',
      random.pick(['Bearer', 'Bearer ', 'bearer x', 'Basic eDp5', 'Bearer a b', `Bearer ${'k'.repeat(600)}`]),
    ],
    ['X-Partner-Api-Key', random.pick(['', 'x', '\xe9'])],
    ['X-Goog-Api-Key', random.pick(['', 'x', 'k'.repeat(513)])],
    ['Origin', random.pick(['null', 'https://evil.example', ''])],
    ['X-Forwarded-For', random.pick(['1.2.3.4', 'x', ','.repeat(1_000)])],
    ['X-Filler', 'f'.repeat(random.pick([8_000, 31_000, 40_000]))],
    ['Accept-Language', 'x'.repeat(5_000)],
    ['User-Agent', '\xe9\xff'],
  ];
  if (twice !== undefined && random.chance(0.3)) headers.push([...twice]);
  for (let more = random.whole(1, 3); more > 0; more--) headers.push(random.pick(strange));
}
