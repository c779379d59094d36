// Values that programs trip over, whatever the field.
import type { Random } from '../../packages/verify/src/random.ts';
import { Members, Verbatim, type Written } from './written.ts';

const DEPTHS = [3, 62, 63, 64, 65, 66, 1_000, 20_000];
const LENGTHS = [0, 1, 199, 200, 201, 255, 256, 257, 2_048, 2_049, 4_096, 65_536];
const LONGEST = 1_200_000;

const STRINGS: readonly Written[] = [
  '',
  ' ',
  '\t\n\r',
  '\u0000',
  'a\u0000b',
  '\u0001\u001f\u007f\u0080\u009f',
  '\ud800',
  '\udc00\ud800',
  'x\udfffy',
  new Verbatim('"\\ud800"'),
  new Verbatim('"\\udc00\\ud800"'),
  '\ufeff',
  '\u2028\u2029',
  '\u202egnp.exe',
  '\uffff\ufffe',
  'e\u0301'.repeat(50),
  '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}'.repeat(20),
  'İıſK',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'null',
  'undefined',
  'true',
  'NaN',
  '-1',
  '0',
  '1e309',
  '0x10',
  '１２',
  "' or 1=1 --",
  '"; drop table accounts; --',
  '%00%0a%0d',
  '%s%n%x',
  '$\u007bTOLLGATE_SECRET}',
  '{{7*7}}',
  '<script>alert(1)</script>',
  '../../../../etc/passwd',
  '..%2f..%2f',
  'file:///etc/passwd',
  'http://127.0.0.1:1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://[::1]:1/',
  'http://[::ffff:127.0.0.1]/',
  'http://0x7f000001/',
  'http://user:pass@127.0.0.1/',
  'https://nowhere.invalid/x',
  'HTTP://127.0.0.1%00.nowhere.invalid/',
  'http://',
  'ftp://nowhere.invalid/',
  'data:',
  'data:image/png;base64,',
  'data:image/png;base64,!!!!',
  'data:image/png;base64,iVBORw0KGgo=',
  'data:audio/wav;base64,UklGRv////9XQVZFZm10IA==',
  'data:text/html,<b>',
  'javascript:alert(1)',
  '1024x1024',
  '0x0',
  '99999x99999',
  '1:0',
  '0:0',
  'auto',
  '2026-02-30',
  '0000-00-00',
  '9999-12-31',
  '99999999999',
  'a@b',
  'a@b.c, d@e.f',
  '\r\nX-Injected: 1',
];

const NUMBERS: readonly Written[] = [
  0,
  -1,
  1,
  0.5,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 32,
  Number.MAX_SAFE_INTEGER,
  ...[
    ...['-0', '-0.0', '0.1e1', '1e0', '1E400', '-1e400', '1e-400', '5e-324', '9007199254740993', '9223372036854775808'],
    ...['-9223372036854775809', '18446744073709551616', '1.7976931348623157e308', '0.000000000000000000001', '1e21'],
    ...[
      '123456789012345678901234567890',
      `1${'0'.repeat(400)}`,
      `0.${'1'.repeat(2_000)}`,
      '1e1000000000',
      '1e-1000000000',
    ],
  ].map((text) => new Verbatim(text)),
];

const OTHERS: readonly Written[] = [
  null,
  true,
  false,
  [],
  [null],
  [[]],
  new Members(),
  new Members([['__proto__', new Members([['isAdmin', true]])]]),
  new Members([['constructor', new Members([['prototype', new Members([['x', 1]])]])]]),
  new Members([
    ['a', 1],
    ['a', 2],
  ]),
  new Members([['toJSON', 1]]),
  new Members([['then', 'x']]),
  new Members([['length', 4_294_967_295]]),
  new Members([['', '']]),
];

export function hostileString(random: Random): Written {
  if (random.chance(0.7)) return random.pick(STRINGS);
  if (random.chance(0.01)) return random.pick(['x', '\u00e9', '\u{1f600}']).repeat(LONGEST);
  return random.pick(['x', ' ', '\\', '"', '\u00e9', '\u{1f600}', '\u0000']).repeat(random.pick(LENGTHS));
}

export function hostileNumber(random: Random): Written {
  return random.chance(0.9) ? random.pick(NUMBERS) : random.whole(-1_000_000, 1_000_000) / 7;
}

/** Of any type. */
export function hostileValue(random: Random): Written {
  switch (random.weighted({ string: 4, number: 3, other: 3, deep: 0.2, wide: 0.1 })) {
    case 'string':
      return hostileString(random);
    case 'number':
      return hostileNumber(random);
    case 'other':
      return random.pick(OTHERS);
    case 'deep':
      return nested(random);
    case 'wide':
      return wide(random);
  }
}

/** Not always closed again. */
export function nested(random: Random): Verbatim {
  const depth = random.pick(DEPTHS);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['[{"a":', '}]'],
  ]) as [string, string];
  const closes = random.chance(0.9) ? depth : random.whole(0, depth);
  return new Verbatim(`${open.repeat(depth)}1${close.repeat(closes)}`);
}

/** Many values or many names. */
function wide(random: Random): Verbatim {
  const count = random.pick([2_999, 3_000, 3_001, 20_000, 99_990, 100_001]);
  if (random.chance(0.5)) return new Verbatim(`[${'0,'.repeat(count)}0]`);
  return new Verbatim(`{${Array.from({ length: Math.min(count, 20_000) }, (_, place) => `"n${place}":0`).join(',')}}`);
}
