/** Speech as the bench's upstream sends it: samples with a header whose first eight bytes tell when they left. */

export const PIECES = 20;
export const PIECE_BYTES = 4_800;
export const PIECE_EVERY_MS = 10;

const RATE = 24_000;
const HEAD_BYTES = 44;

export function pieceWithTime(): Buffer {
  const piece = Buffer.alloc(HEAD_BYTES + PIECE_BYTES);
  piece.write('RIFF\xff\xff\xff\xffWAVEfmt ', 'latin1');
  piece.writeUInt32LE(16, 16);
  piece.writeUInt16LE(1, 20);
  piece.writeUInt16LE(1, 22);
  piece.writeUInt32LE(RATE, 24);
  piece.writeUInt32LE(RATE * 2, 28);
  piece.writeUInt16LE(2, 32);
  piece.writeUInt16LE(16, 34);
  piece.write('data\xff\xff\xff\xff', 36, 'latin1');
  // All processes of one machine share this clock.
  piece.writeBigUInt64LE(process.hrtime.bigint(), HEAD_BYTES);
  return piece;
}

/** For how long it has been under way. Undefined while too little of it is here. */
export function msUnderWay(piece: Buffer): number | undefined {
  if (piece.length < HEAD_BYTES + 8) return undefined;
  return Number(process.hrtime.bigint() - piece.readBigUInt64LE(HEAD_BYTES)) / 1e6;
}
