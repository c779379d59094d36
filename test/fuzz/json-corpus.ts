// Texts on which JSON parsers are known to differ, hang or fall.
import type { Random } from '../../packages/verify/src/random.ts';
import { nested } from './hostile-values.ts';

const TEXTS: readonly string[] = [
  '',
  ' ',
  '\0',
  '\ufeff{}',
  '{}\0',
  '{} {}',
  '{}}',
  '{',
  '}',
  '[',
  '[]',
  'null',
  'true',
  '0',
  '""',
  '"',
  '"\\',
  '"\\u',
  '"\\u12"',
  '"\\uD800\\u"',
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  '{,}',
  '{"a":1 "b":2}',
  "{'a':1}",
  '{a:1}',
  '{"a":01}',
  '{"a":+1}',
  '{"a":.5}',
  '{"a":1.}',
  '{"a":1e}',
  '{"a":1e+}',
  '{"a":-}',
  '{"a":--1}',
  '{"a":0x1}',
  '{"a":1_000}',
  '{"a":NaN}',
  '{"a":Infinity}',
  '{"a":undefined}',
  '{"a":tru}',
  '{"a":nulll}',
  '{"a":/*c*/1}',
  '{"a":1}//c',
  '#c\n{"a":1}',
  '{"a":"\t"}',
  '{"a":"\n"}',
  '{"a":"\\x41"}',
  '{"a":"\\\'"}',
  '{"a":"\\u0000"}',
  '{"\\u0000":1}',
  '{"a":"\\ud834\\udd1e"}',
  '{"a":"\\ud834"}',
  '{"a":1e400}',
  '{"a":-1e400}',
  '{"a":1e-99999}',
  '{"a":1E1000000000000}',
  '{"a":9007199254740993}',
  '{"a":-0}',
  '{"a":123456789012345678901234567890.123456789012345678901234567890}',
  '{"":""}',
  '{"a":1,"a":2}',
  '{"__proto__":{"x":1}}',
  '{"__proto__":null}',
  '{"constructor":{"prototype":{"x":1}}}',
  '{"toString":1,"valueOf":2,"toJSON":3}',
  '\u2028{}',
  '\u00a0{}',
  '\f{}',
  '\v{}',
  '{"a":"\u2028"}',
  'a=b&c=d',
  '<?xml version="1.0"?><a/>',
  '---\na: 1\n',
  '&a [*a]',
];

const BIG: readonly ((random: Random) => string)[] = [
  (random) => nested(random).text,
  (random) => `{"a":${nested(random).text}}`,
  () => '['.repeat(100_000),
  () => '{"a":'.repeat(50_000),
  () => `{"a":${'9'.repeat(100_000)}}`,
  () => `{"a":0.${'9'.repeat(100_000)}}`,
  () => `{"a":1e${'9'.repeat(10_000)}}`,
  () => `{"a":"${'\\u0041'.repeat(20_000)}"}`,
  () => `{"a":"${'\\'.repeat(9_999)}"}`,
  () => `{"${'k'.repeat(100_000)}":1}`,
  () => `{${Array.from({ length: 3_001 }, (_, place) => `"${place}":0`).join(',')}}`,
  () => `{"a":[${'0,'.repeat(100_000)}0]}`,
  () => `{"a":[${'[],'.repeat(50_000)}0]}`,
  () => `{"a":[${'{"b":1},'.repeat(20_000)}0]}`,
  () => `${' '.repeat(300_000)}{}`,
  () => `{"a":1${','.repeat(100_000)}}`,
  () => `{"a":[${'-0.0e-1,'.repeat(20_000)}1]}`,
];

/** A body, mostly small. */
export function tortureJson(random: Random): Buffer {
  const text = random.chance(0.97) ? random.pick(TEXTS) : random.pick(BIG)(random);
  return encoded(text, random);
}

/** Nearly always UTF-8. */
export function encoded(text: string, random: Random): Buffer {
  const bytes = Buffer.from(text);
  if (random.chance(0.92)) return bytes;
  switch (random.weighted({ utf16: 1, bom: 1, latin1: 1, invalid: 2, cut: 1, overlong: 1, surrogate: 1 })) {
    case 'utf16':
      return Buffer.from(`\ufeff${text}`, 'utf16le');
    case 'bom':
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
    case 'latin1':
      return Buffer.from(text, 'latin1');
    case 'invalid':
      return spliced(bytes, [0xff, 0xfe], random);
    case 'cut':
      return bytes.subarray(0, random.whole(0, bytes.length));
    case 'overlong':
      return spliced(bytes, [0xc0, 0xaf], random);
    case 'surrogate':
      return spliced(bytes, [0xed, 0xa0, 0x80], random);
  }
}

function spliced(bytes: Buffer, inserted: readonly number[], random: Random): Buffer {
  const at = random.whole(0, bytes.length);
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(inserted), bytes.subarray(at)]);
}
