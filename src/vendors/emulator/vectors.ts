import { createHash } from 'node:crypto';

/** Numbers between -1 and 1 that the seed decides, each a float32. */
export function numbersOf(seed: string, count: number): number[] {
  const numbers: number[] = [];
  for (let block = 0; numbers.length < count; block++) {
    const digest = createHash('sha256').update(`${seed}\n${block}`).digest();
    for (let at = 0; at < digest.length; at += 4) numbers.push(Math.fround(digest.readInt32LE(at) / 2 ** 31));
  }
  return numbers.slice(0, count);
}

/** As a vector is written in base64. */
export function base64Of(numbers: readonly number[]): string {
  const bytes = Buffer.alloc(numbers.length * 4);
  for (const [at, value] of numbers.entries()) bytes.writeFloatLE(value, at * 4);
  return bytes.toString('base64');
}
