import type { ByteRange } from '../../storage/index.ts';

/**
 * What a Range header asks of an object of so many bytes. What is not understood is ignored, and so are several ranges
 * at once: a client that asks for them must be able to take the whole.
 */
export function rangeOf(header: string | undefined, bytes: number): ByteRange | 'whole' | 'unsatisfiable' {
  const [, first = '', last = ''] = /^bytes=[\t ]*(\d*)-(\d*)[\t ]*$/i.exec(header ?? '') ?? [];
  const [start, end] = [Number(first), Number(last)];
  if (first === '') {
    if (last === '') return 'whole';
    return end === 0 || bytes === 0 ? 'unsatisfiable' : { start: Math.max(bytes - end, 0), end: bytes - 1 };
  }
  if (last !== '' && end < start) return 'whole';
  if (start >= bytes) return 'unsatisfiable';
  return { start, end: last === '' ? bytes - 1 : Math.min(end, bytes - 1) };
}
