import type { IncomingMessage } from 'node:http';
import { newId } from '../../ids.ts';
import { REQUEST_ID_CHARS_MAX } from '../../limits.ts';

const ADOPTABLE = new RegExp(`^[\\x20-\\x7e]{1,${REQUEST_ID_CHARS_MAX}}$`);

/** The caller's own id when it is short and printable, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const header = request.headers['x-request-id'];
  return typeof header === 'string' && ADOPTABLE.test(header) ? header : newId('req');
}
