import type { IncomingMessage } from 'node:http';
import { newId } from '../../ids.ts';
import { REQUEST_ID_CHARS_MAX } from '../../limits.ts';

const ADOPTABLE = new RegExp(`^[\\x20-\\x7e]{1,${REQUEST_ID_CHARS_MAX}}$`);

/** The caller's own id when it is short and printable, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && ADOPTABLE.test(given) ? given : newId('req');
}
