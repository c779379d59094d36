import assert from 'node:assert/strict';
import { ADMIN_TOKEN } from './gateway.ts';
import { until } from './postgres.ts';
import type { Program } from './program.ts';
import { RawConnection, requestText } from './raw-http.ts';

const BODY = JSON.stringify({ name: 'Running' });
export const REST_OF_BODY = BODY.slice(5);

/** A request that has been taken and runs until the rest of its body is sent. */
export async function begunRequest({ url }: { readonly url: string }, token = ADMIN_TOKEN): Promise<RawConnection> {
  const connection = await RawConnection.open(url);
  const headers = [`Authorization: Bearer ${token}`, 'Content-Type: application/json', 'Expect: 100-continue'];
  const text = requestText('POST /api/admin/accounts', headers, BODY);
  await connection.send(text.slice(0, -REST_OF_BODY.length));
  // The server asks for the body once it has the request in hand.
  assert.equal((await connection.answer()).status, 100);
  return connection;
}

/** The signal is on its way to another process. */
export function untilStopping(program: Program): Promise<void> {
  return until(async () => (await program.get('/healthz')).status === 503);
}

/** Words for a person: no trace of the program, no secret. */
export function assertPlain(told: string): void {
  assert.doesNotMatch(told, /^\s+at /m);
  assert.doesNotMatch(told, /node:internal|\[cause\]|hush/);
}
