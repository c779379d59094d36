/** A body in one piece if it is no larger than this; else all of it as it comes, of which little more was held. */
export async function bufferUpTo(
  body: AsyncIterable<Buffer>,
  bytesMax: number,
): Promise<Buffer | AsyncIterable<Buffer>> {
  const rest = body[Symbol.asyncIterator]();
  const pieces: Buffer[] = [];
  for (let bytes = 0; bytes <= bytesMax; ) {
    const { value, done } = await rest.next();
    if (done === true) return joined(pieces);
    pieces.push(value);
    bytes += value.length;
  }
  return replayThenRest(pieces, rest);
}

export function joined(pieces: readonly Buffer[]): Buffer {
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
}

/** The pieces that were read already, and then the rest. */
export async function* replayThenRest(pieces: Buffer[], rest: AsyncIterator<Buffer>): AsyncIterable<Buffer> {
  try {
    for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) yield piece;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
