/** A body in one piece if it is no larger than this; else all of it as it comes, of which little more was held. */
export async function gathered(body: AsyncIterable<Buffer>, bytesMax: number): Promise<Buffer | AsyncIterable<Buffer>> {
  const rest = body[Symbol.asyncIterator]();
  const pieces: Buffer[] = [];
  for (let bytes = 0; bytes <= bytesMax; ) {
    const { value, done } = await rest.next();
    if (done === true) return joined(pieces);
    pieces.push(value);
    bytes += value.length;
  }
  return resumed(pieces, rest);
}

export function joined(pieces: readonly Buffer[]): Buffer {
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
}

/** What was taken already, and then the rest. */
export async function* resumed(taken: Buffer[], rest: AsyncIterator<Buffer>): AsyncIterable<Buffer> {
  try {
    for (let piece = taken.shift(); piece !== undefined; piece = taken.shift()) yield piece;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
