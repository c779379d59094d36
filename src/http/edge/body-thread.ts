import { isUtf8 } from 'node:buffer';
import { parentPort } from 'node:worker_threads';
import { ApiError } from '../../errors.ts';
import { JsonError, parseMarked } from '../../json.ts';
import type { BodyOrder, BodyReport } from './large-bodies.ts';
import { readNative } from './native-body.ts';

/** The body of a thread that reads one large body after the other. */
parentPort?.on('message', (order: BodyOrder) => {
  const report = parseBody(order);
  parentPort?.postMessage(report, report.state === 'native' ? [report.body.buffer] : []);
});

function parseBody({ kind, body }: BodyOrder): BodyReport {
  const bytes = Buffer.from(body.buffer, body.start, body.bytes);
  try {
    if (kind === 'native') return { state: 'native', tokens: readNative(bytes), body };
    if (!isUtf8(bytes)) throw new JsonError('The body is not valid UTF-8.');
    return { state: 'json', json: parseMarked(bytes.toString('utf8')) };
  } catch (error) {
    // Anything else is a defect: it ends the thread, and the request that waits for it fails.
    if (error instanceof JsonError) return { state: 'refused', code: 'invalid_json', message: error.message };
    if (error instanceof ApiError) return { state: 'refused', code: error.code, message: error.message };
    throw error;
  }
}
