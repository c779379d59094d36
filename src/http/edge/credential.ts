import type { FastifyRequest } from 'fastify';
import type { Credential } from '../../accounts/index.ts';

/** The vendor's own header for the third place, so that its client libraries work unmodified. */
const PARTNER_HEADER_OF_CLIENTS = 'x-goog-api-key';

/** The first non-empty of the five places, in their order; undefined when all are empty. */
export function credentialOf(request: FastifyRequest, partnerKeyHeader: string): Credential | undefined {
  const { headers } = request;
  const bearer = bearerOf(headers.authorization);
  if (bearer !== undefined) return { secret: bearer, isBearer: true };
  const secret =
    filled(headers['x-api-key']) ??
    filled(headers[partnerKeyHeader]) ??
    filled(headers[PARTNER_HEADER_OF_CLIENTS]) ??
    filled(headers['api-key']) ??
    filled((request.query as Record<string, string | string[] | undefined>).key);
  return secret === undefined ? undefined : { secret, isBearer: false };
}

/** Another scheme counts as empty: the next place is read. */
export function bearerOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  return authorization.slice(0, 7).toLowerCase() === 'bearer ' ? filled(authorization.slice(7)) : undefined;
}

function filled(value: string | string[] | undefined): string | undefined {
  const text = (Array.isArray(value) ? value.find((item) => item.trim() !== '') : value)?.trim();
  return text === undefined || text === '' ? undefined : text;
}
