import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import { JsonError, type ParsedJson, parseJson } from '../json.ts';
import { collectBody } from './collect-body.ts';

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

/** A JSON object; a body without a content type is taken for one. */
export function readJson(request: FastifyRequest): ParsedJson {
  const parsed = parseJsonBody(request);
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ApiError('invalid_json');
  return parsed;
}

function parseJsonBody(request: FastifyRequest): ParsedJson {
  const type = mediaType(request);
  if (type !== '' && type !== 'application/json' && !type.endsWith('+json')) {
    throw new ApiError('unsupported_content_type', { message: 'This route takes application/json.' });
  }
  const { value, exact } = told(() => parseJson(textOf(request)));
  return { value, exact: () => told(exact) };
}

function told<Result>(parse: () => Result): Result {
  try {
    return parse();
  } catch (error) {
    if (error instanceof JsonError) throw new ApiError('invalid_json', { message: error.message, cause: error });
    throw error;
  }
}

export function readText(request: FastifyRequest, contentTypes: readonly string[]): string {
  const type = mediaType(request);
  if (type !== '' && !contentTypes.includes(type)) {
    throw new ApiError('unsupported_content_type', { message: `This route takes ${contentTypes.join(', ')}.` });
  }
  return textOf(request);
}

function mediaType(request: FastifyRequest): string {
  return (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function textOf(request: FastifyRequest): string {
  if (!Buffer.isBuffer(request.body)) return '';
  try {
    return utf8.decode(request.body);
  } catch (error) {
    throw new ApiError('invalid_json', { message: 'The body is not valid UTF-8.', cause: error });
  }
}
