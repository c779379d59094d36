import assert from 'node:assert/strict';
import { parentPort } from 'node:worker_threads';
import { ApiError } from '../../errors.ts';
import type { BodyOrder, BodyReport } from './json-bodies.ts';
import { parseBody } from './parse-body.ts';

/** The body of a thread that parses one large body after the other. */
parentPort?.on('message', (order: BodyOrder) => {
  const report = reportOf(order);
  parentPort?.postMessage(report, report.state === 'parsed' && report.body !== undefined ? [report.body] : []);
});

function reportOf({ kind, body, isKept, valuesMax }: BodyOrder): BodyReport {
  try {
    const json = parseBody(kind, new Uint8Array(body), valuesMax);
    assert.ok(json !== undefined);
    return { state: 'parsed', json, body: isKept ? body : undefined };
  } catch (error) {
    // Anything else is a defect: it ends the thread, and the request that waits for it fails.
    if (!(error instanceof ApiError)) throw error;
    return { state: 'refused', code: error.code, message: error.message };
  }
}
