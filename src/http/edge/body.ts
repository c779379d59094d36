import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../../errors.ts';
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

/** Throws `unsupported_content_type`. A body without a content type is taken for JSON. */
export function requireJsonType(request: FastifyRequest): void {
  const type = mediaType(request);
  if (type !== '' && type !== 'application/json' && !type.endsWith('+json')) {
    throw new ApiError('unsupported_content_type', { message: 'This route takes application/json.' });
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

export function readText(request: FastifyRequest, contentTypes: readonly string[]): string {
  const type = mediaType(request);
  if (type !== '' && !contentTypes.includes(type)) {
    throw new ApiError('unsupported_content_type', { message: `This route takes ${contentTypes.join(', ')}.` });
  }
  try {
    return utf8.decode(bytesOf(request));
  } catch (error) {
    throw new ApiError('invalid_json', { message: 'The body is not valid UTF-8.', cause: error });
  }
}

/** None is the same as an empty one. */
export function bytesOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

function mediaType(request: FastifyRequest): string {
  return (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
