import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../../errors.ts';
import { JsonError, type ParsedJson, parseJson } from '../../json.ts';
import { scanJson } from '../../json-scan.ts';
import { JSON_INLINE_BYTES_MAX, JSON_INLINE_VALUES_MAX } from '../../limits.ts';
import { collectBody } from './collect-body.ts';
import type { LargeBodies } from './large-bodies.ts';

const FORM = 'multipart/form-data';

/**
 * Bodies arrive as bytes whatever their declared type; each route then says what it takes. Only forms are left on the
 * wire, because they may be larger than memory is for.
 */
export function takeBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(FORM, (_request, _payload, done) => done(null));
  server.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) => {
    const { bodyLimit, config } = request.routeOptions;
    return collectBody(payload, { bytesMax: bodyLimit, tooLarge: config.tooLarge ?? 'body_too_large' });
  });
}

export function isForm(request: FastifyRequest): boolean {
  return mediaType(request) === FORM;
}

/**
 * A JSON object; a body without a content type is taken for one. What is large is read in a thread, so that only then
 * there is something to wait for.
 */
export function readJson(request: FastifyRequest, largeBodies: LargeBodies): ParsedJson | Promise<ParsedJson> {
  const type = mediaType(request);
  if (type !== '' && type !== 'application/json' && !type.endsWith('+json')) {
    throw new ApiError('unsupported_content_type', { message: 'This route takes application/json.' });
  }
  const body = bytesOf(request);
  const here = body.length > JSON_INLINE_BYTES_MAX ? undefined : parseHere(body);
  return here === undefined ? largeBodies.json(body).then(objectOnly) : objectOnly(here);
}

/** Undefined if it has too many values to be parsed here. */
function parseHere(body: Buffer): ParsedJson | undefined {
  const text = textOf(body);
  try {
    const scan = scanJson(text);
    return scan.values > JSON_INLINE_VALUES_MAX ? undefined : parseJson(text, scan);
  } catch (error) {
    if (error instanceof JsonError) throw new ApiError('invalid_json', { message: error.message, cause: error });
    throw error;
  }
}

function objectOnly(parsed: ParsedJson): ParsedJson {
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ApiError('invalid_json');
  return parsed;
}

export function readText(request: FastifyRequest, contentTypes: readonly string[]): string {
  const type = mediaType(request);
  if (type !== '' && !contentTypes.includes(type)) {
    throw new ApiError('unsupported_content_type', { message: `This route takes ${contentTypes.join(', ')}.` });
  }
  return textOf(bytesOf(request));
}

/** None is the same as an empty one. */
export function bytesOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

function mediaType(request: FastifyRequest): string {
  return (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function textOf(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch (error) {
    throw new ApiError('invalid_json', { message: 'The body is not valid UTF-8.', cause: error });
  }
}
