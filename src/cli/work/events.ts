import type { Readable } from 'node:stream';

/** The data of each server-sent event, in the order in which they come. */
export async function* eventsOf(body: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of body) {
    rest += decoder.decode(piece as Buffer, { stream: true });
    const events = rest.split(/\r?\n\r?\n/);
    rest = events.pop() ?? '';
    yield* events.flatMap(dataOf);
  }
}

/** Comments, which keep a connection alive, have none. */
function dataOf(event: string): readonly string[] {
  const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'));
  return lines.length === 0 ? [] : [lines.map((line) => line.slice(5).replace(/^ /, '')).join('\n')];
}
