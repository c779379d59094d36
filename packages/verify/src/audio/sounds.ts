// Sounds that say whose they are: the name of an order stands in their samples, wherever they get to.

const RATE = 8_000;
const SAMPLE_BYTES = 2;
const HEAD_BYTES = 44;
const MARK = '<order ';

/** A wave file in order, of silence but for the name. */
export function soundNamed(name: string, seconds: number): Buffer {
  const samples = Buffer.alloc(seconds * RATE * SAMPLE_BYTES);
  samples.write(`${MARK}${name}>`, 'latin1');
  const head = Buffer.alloc(HEAD_BYTES);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(HEAD_BYTES - 8 + samples.length, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(RATE, 24);
  head.writeUInt32LE(RATE * SAMPLE_BYTES, 28);
  head.writeUInt16LE(SAMPLE_BYTES, 32);
  head.writeUInt16LE(SAMPLE_BYTES * 8, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

/** How long so much of such a file plays. */
export function secondsIn(bytes: number): number {
  return Math.max(0, bytes - HEAD_BYTES) / (RATE * SAMPLE_BYTES);
}

/** The order that is named in a sound, or in whatever a sound or a text is part of. */
export function nameIn(bytes: Buffer): string | undefined {
  const at = bytes.indexOf(MARK, 0, 'latin1');
  const end = at < 0 ? -1 : bytes.indexOf('>', at, 'latin1');
  return end < 0 ? undefined : bytes.toString('latin1', at + MARK.length, end);
}

/** A text to be spoken that names its order, and is longer than any sound here plays. */
export function textNamed(name: string): string {
  return `Read aloud what ${MARK}${name}> has asked for, please.`;
}
