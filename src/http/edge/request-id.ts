import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { newId } from '../../ids.ts';
import { REQUEST_ID_CHARS_MAX } from '../../limits.ts';

const ADOPTABLE = new RegExp(`^[\\x20-\\x7e]{1,${REQUEST_ID_CHARS_MAX}}$`);

/** The caller's own id when it is short and printable, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const header = request.headers['x-request-id'];
  return typeof header === 'string' && ADOPTABLE.test(header) ? header : newId('req');
}

/** For what is kept under a request's id: one that the caller chose may be another caller's, or used before. */
export function recordIdOf({ id, headers }: FastifyRequest): string {
  return headers['x-request-id'] === id ? newId('req') : id;
}
