import { parentPort } from 'node:worker_threads';

/** What an engine tells its thread: an order begins, the next piece of it is due, no more of it is. */
export type Message<Order> =
  | { readonly kind: 'open'; readonly id: number; readonly order: Order }
  | { readonly kind: 'next' | 'close'; readonly id: number };

/** What it hears: exactly one answer to each `next`. */
export type Answer<Piece> =
  | { readonly kind: 'piece'; readonly id: number; readonly piece: Piece }
  | { readonly kind: 'end'; readonly id: number }
  | { readonly kind: 'failed'; readonly id: number; readonly fault: 'client' | 'server'; readonly detail: string };

/** The order asks for what cannot be done, here or anywhere. */
export class Impossible extends Error {}

/** The body of an engine's thread. Pieces are made one at a time, in the order in which they are wanted. */
export function serve<Order, Piece>(work: (order: Order) => AsyncGenerator<Piece>): void {
  const open = new Map<number, AsyncGenerator<Piece>>();
  let last = Promise.resolve();
  parentPort?.on('message', (message: Message<Order>) => {
    const { kind, id } = message;
    if (kind === 'open') open.set(id, work(message.order));
    else if (kind === 'next') last = last.then(() => answer(id, open.get(id)));
    else {
      void open.get(id)?.return(undefined);
      open.delete(id);
    }
  });
}

async function answer<Piece>(id: number, pieces: AsyncGenerator<Piece> | undefined): Promise<void> {
  const tell = (answer: Answer<Piece>) => parentPort?.postMessage(answer);
  if (pieces === undefined) return;
  try {
    const next = await pieces.next();
    tell(next.done === true ? { kind: 'end', id } : { kind: 'piece', id, piece: next.value });
  } catch (error) {
    if (error instanceof Impossible) tell({ kind: 'failed', id, fault: 'client', detail: error.message });
    else tell({ kind: 'failed', id, fault: 'server', detail: stackOf(error) });
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
