import assert from 'node:assert/strict';
import type { Answer, Gateway, NewCaller } from './gateway.ts';
import { until } from './postgres.ts';

const MOVES_MAX = 10_000;

/** A create call; the answer is the queued job. */
export async function createdJob(
  gateway: Gateway,
  caller: NewCaller,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer['json']> {
  const answer = await gateway.call('POST', path, { key: caller.key, body, headers });
  assert.equal(answer.status, 202, answer.text);
  return answer.json;
}

export async function readJob(gateway: Gateway, caller: NewCaller, id: string): Promise<Answer['json']> {
  const answer = await gateway.call('GET', `/v1/jobs/${id}`, { key: caller.key });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

const TERMINAL = ['succeeded', 'failed', 'queue_expired'];

/** Lets time pass a little at a time until the job has ended. */
export async function endedJob(gateway: Gateway, caller: NewCaller, id: string): Promise<Answer['json']> {
  for (let move = 0; move < MOVES_MAX; move++) {
    const job = await readJob(gateway, caller, id);
    if (TERMINAL.includes(job.status)) return job;
    gateway.clock.advance(0.1);
  }
  throw new Error(`job ${id} does not end`);
}

/** Waits for a state without moving the clock. */
export async function jobInState(gateway: Gateway, caller: NewCaller, id: string, status: string): Promise<void> {
  await until(async () => (await readJob(gateway, caller, id)).status === status);
}

export async function assetsOf(gateway: Gateway, caller: NewCaller, id: string): Promise<Answer['json'][]> {
  const answer = await gateway.call('GET', `/v1/jobs/${id}/assets`, { key: caller.key });
  assert.equal(answer.status, 200, answer.text);
  return answer.json.items;
}
