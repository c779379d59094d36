import { parentPort } from 'node:worker_threads';
import { Implausible, Unreadable } from './buffered-reader.ts';
import { measureHere } from './measure.ts';
import type { Measured } from './measured.ts';

/** What the thread is told: of what to measure, and what was read of it. `end`: it could not be read. */
export type MeasuringMessage =
  | {
      readonly kind: 'measure';
      readonly id: number;
      readonly bytes: number;
      readonly mimeType: string;
      readonly isCut: boolean;
    }
  | { readonly kind: 'piece'; readonly id: number; readonly piece: Uint8Array }
  | { readonly kind: 'end'; readonly id: number };

export type MeasuringReport =
  | { readonly kind: 'read'; readonly id: number; readonly start: number; readonly end: number }
  | { readonly kind: 'measured'; readonly id: number; readonly measured: Measured }
  | { readonly kind: 'unreadable'; readonly id: number; readonly isImplausible: boolean; readonly detail: string }
  | { readonly kind: 'failed'; readonly id: number; readonly detail: string };

/** Reads that have been asked for: of each file there is one at a time. */
const reads = new Map<number, PromiseWithResolvers<Buffer>>();

parentPort?.on('message', (message: MeasuringMessage) => {
  switch (message.kind) {
    case 'measure':
      void measured(message).then(report);
      return;
    case 'piece':
      reads.get(message.id)?.resolve(Buffer.from(message.piece.buffer));
      return;
    case 'end':
      reads.get(message.id)?.reject(new Error('it was not read'));
      return;
  }
});

type Task = Extract<MeasuringMessage, { kind: 'measure' }>;

async function measured({ id, bytes, mimeType, isCut }: Task): Promise<MeasuringReport> {
  const read = async (start: number, end: number) => {
    const answer = Promise.withResolvers<Buffer>();
    reads.set(id, answer);
    report({ kind: 'read', id, start, end });
    try {
      return await answer.promise;
    } finally {
      reads.delete(id);
    }
  };
  try {
    return { kind: 'measured', id, measured: await measureHere({ bytes, read }, mimeType, { isCut }) };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    if (!(error instanceof Unreadable)) return { kind: 'failed', id, detail };
    return { kind: 'unreadable', id, isImplausible: error instanceof Implausible, detail };
  }
}

function report(message: MeasuringReport): void {
  parentPort?.postMessage(message);
}
