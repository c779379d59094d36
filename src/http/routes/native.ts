import { z } from 'zod';
import { callNative, startNative } from '../../calls/index.ts';
import { creditsToNumber } from '../../credits.ts';
import { ApiError } from '../../errors.ts';
import { NATIVE_BODY_BYTES_MAX } from '../../limits.ts';
import type { NativeAction, NativeFrame } from '../../vendors/index.ts';
import type { HttpDeps } from '../deps.ts';
import { type EventStream, sendEvents } from '../edge/events.ts';
import { traceModel } from '../edge/request-line.ts';
import type { Routes } from '../edge/route.ts';
import { CALL_CODES, callContext } from './call.ts';

const ACTIONS: readonly NativeAction[] = ['generateContent', 'streamGenerateContent', 'countTokens'];
const CREDENTIAL_PARAMETERS = new Set(['key', 'api_key', 'apikey', 'access_token']);
/** They change the form of an answer, beside `alt`. */
const FORM_PARAMETERS = new Set(['$alt', 'callback', '$callback', 'fields', '$fields']);

/** google-genai for Python writes the stable version since its third major one; what libraries send is the same in both. */
const VERSIONS = [
  { path: '/v1beta/models/{model}:{action}', url: { pattern: '/v1beta/*', check: targetOf } },
  {
    path: '/v1/models/{model}:{action}',
    // Models are read under the stable version, too: what names no action there is not of this format.
    url: { pattern: '/v1/models/*', isMeant: namesAction, check: targetOf },
  },
];

export function nativeRoutes(routes: Routes, deps: HttpDeps): void {
  for (const version of VERSIONS) addVersion(routes, deps, version);
}

function addVersion(routes: Routes, deps: HttpDeps, version: (typeof VERSIONS)[number]): void {
  routes.add(
    {
      method: 'POST',
      ...version,
      summary: 'The native format, byte for byte',
      access: 'caller',
      scope: 'none',
      logged: 'native',
      example: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
      body: { kind: 'native', bytesMax: NATIVE_BODY_BYTES_MAX, tooLarge: 'request_too_large' },
      answers: { 200: z.unknown() },
      otherMedia: ['text/event-stream'],
      codes: [
        ...CALL_CODES,
        'invalid_parameter',
        'unknown_route',
        'unsupported_action',
        'bad_request_body',
        'empty_stream',
      ],
    },
    async (call) => {
      const { request, reply, caller, body } = call;
      const { model, action } = targetOf(request.raw.url ?? '');
      const { query, hasCustomFormat, wantsArray } = queryOf(request.raw.url ?? '');
      traceModel(request, model);
      const native = {
        model,
        request: {
          action,
          body: body.bytes,
          query,
          hasCustomFormat,
          contentType: request.headers['content-type'],
          accept: request.headers.accept,
        },
        tokens: body.tokens,
      };
      const context = callContext(request, reply);
      if (action === 'streamGenerateContent') {
        const { contentType, frames } = await startNative(deps, caller, native, context);
        await sendEvents(reply, wantsArray ? asArray(frames) : asEvents(frames, contentType), deps.log);
        return reply;
      }
      const { answer, charged } = await callNative(deps, caller, native, context);
      return reply
        .header('content-type', answer.contentType)
        .header('x-credits-charged', String(creditsToNumber(charged)))
        .send(answer.body);
    },
  );
}

function namesAction(url: string): boolean {
  return /^\/v1\/models\/[^?]+(?::|%3a)/i.test(url);
}

/** Split at the last literal colon; with none, at the last encoded one. */
function targetOf(url: string): { model: string; action: NativeAction } {
  const path = url.split('?', 1)[0] ?? '';
  const rest = /^\/v1(?:beta)?\/models\/(.+)$/.exec(path)?.[1];
  if (rest === undefined) throw new ApiError('unknown_route');
  const target = rest.includes(':') ? rest : decoded(rest);
  const colon = target.lastIndexOf(':');
  const [model, action] = [target.slice(0, colon), decoded(target.slice(colon + 1))];
  if (colon <= 0 || action === '') throw new ApiError('unknown_route');
  const known = ACTIONS.find((name) => name === action);
  if (known === undefined) throw new ApiError('unsupported_action');
  return { model: rest.includes(':') ? decoded(model) : model, action: known };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throw new ApiError('malformed_request', { cause: error });
  }
}

/** Without credentials, otherwise as it came. The last `alt` counts. */
function queryOf(url: string): { query: string; hasCustomFormat: boolean; wantsArray: boolean } {
  const text = url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
  const parameters: string[] = [];
  let alt = '';
  let hasCustomFormat = false;
  for (const part of text.split('&')) {
    const name = decodedName(part.split('=', 1)[0] ?? '');
    if (part === '' || CREDENTIAL_PARAMETERS.has(name)) continue;
    if (name === 'alt') alt = part.slice(part.indexOf('=') + 1);
    if (FORM_PARAMETERS.has(name)) hasCustomFormat = true;
    parameters.push(name === 'alt' ? `alt=${alt}` : part);
  }
  return {
    query: parameters.join('&'),
    hasCustomFormat: hasCustomFormat || !['', 'sse', 'json'].includes(alt),
    wantsArray: alt === 'json',
  };
}

/** A name that is written in escapes is still that name. */
function decodedName(text: string): string {
  try {
    return decodeURIComponent(text).toLowerCase();
  } catch {
    return text.toLowerCase();
  }
}

function asEvents(frames: AsyncIterable<NativeFrame>, contentType: string): EventStream {
  return {
    frames: frameBytes(frames),
    contentType,
    end: '',
    error: (envelope) => `data: ${JSON.stringify(envelope)}\r\n\r\n`,
    cutOnError: true,
  };
}

async function* frameBytes(frames: AsyncIterable<NativeFrame>): AsyncIterable<Buffer> {
  for await (const frame of frames) yield frame.bytes;
}

function asArray(frames: AsyncIterable<NativeFrame>): EventStream {
  return {
    frames: elementsOf(frames),
    contentType: 'application/json; charset=UTF-8',
    end: ']',
    error: (envelope) => `,${JSON.stringify(envelope)}]`,
    cutOnError: true,
  };
}

async function* elementsOf(frames: AsyncIterable<NativeFrame>): AsyncIterable<string> {
  let before = '[';
  for await (const frame of frames) {
    if (frame.data === '') continue;
    yield before + frame.data;
    before = ',\r\n';
  }
}
