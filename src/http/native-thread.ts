import { parentPort } from 'node:worker_threads';
import { ApiError } from '../errors.ts';
import { readNative } from '../requests/index.ts';
import type { LargeBody, ReadBody } from './native-bodies.ts';

/** The body of a thread that reads one large body after the other; each goes back to whom it belongs. */
parentPort?.on('message', (body: LargeBody) => {
  parentPort?.postMessage({ ...read(body), body } satisfies ReadBody, [body.buffer]);
});

function read({ buffer, start, bytes }: LargeBody): Pick<ReadBody, 'asked'> {
  try {
    return { asked: readNative(Buffer.from(buffer, start, bytes)) };
  } catch (error) {
    // Anything else ends the thread, and whoever waits is told.
    if (error instanceof ApiError) return { asked: undefined };
    throw error;
  }
}
