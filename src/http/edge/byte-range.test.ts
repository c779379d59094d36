import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rangeOf } from './byte-range.ts';

const cases: readonly [header: string | undefined, bytes: number, expected: ReturnType<typeof rangeOf>][] = [
  [undefined, 10, 'whole'],
  ['bytes=0-4', 10, { start: 0, end: 4 }],
  ['bytes=0-0', 10, { start: 0, end: 0 }],
  ['bytes=9-9', 10, { start: 9, end: 9 }],
  ['bytes=0-9', 10, { start: 0, end: 9 }],
  ['bytes=4-', 10, { start: 4, end: 9 }],
  ['bytes=0-', 10, { start: 0, end: 9 }],
  ['bytes=-3', 10, { start: 7, end: 9 }],
  ['bytes=-10', 10, { start: 0, end: 9 }],
  ['bytes=-11', 10, { start: 0, end: 9 }],
  ['bytes=8-10', 10, { start: 8, end: 9 }],
  [`bytes=8-${'9'.repeat(400)}`, 10, { start: 8, end: 9 }],
  ['BYTES=0-4', 10, { start: 0, end: 4 }],
  ['bytes= 0-4 ', 10, { start: 0, end: 4 }],
  ['bytes=10-', 10, 'unsatisfiable'],
  ['bytes=10-20', 10, 'unsatisfiable'],
  [`bytes=${'9'.repeat(400)}-`, 10, 'unsatisfiable'],
  ['bytes=-0', 10, 'unsatisfiable'],
  ['bytes=0-', 0, 'unsatisfiable'],
  ['bytes=0-0', 0, 'unsatisfiable'],
  ['bytes=-1', 0, 'unsatisfiable'],
  ['', 10, 'whole'],
  ['bytes', 10, 'whole'],
  ['bytes=', 10, 'whole'],
  ['bytes=-', 10, 'whole'],
  ['bytes=5-4', 10, 'whole'],
  ['bytes=a-b', 10, 'whole'],
  ['bytes=0x0-4', 10, 'whole'],
  ['bytes=--4', 10, 'whole'],
  ['bytes=1.5-4', 10, 'whole'],
  ['bytes=0 - 4', 10, 'whole'],
  ['bytes =0-4', 10, 'whole'],
  ['bytes 0-4', 10, 'whole'],
  ['items=0-4', 10, 'whole'],
  ['bytes=0-1,4-5', 10, 'whole'],
  ['bytes=0-1, 20-30', 10, 'whole'],
];

for (const [header, bytes, expected] of cases) {
  test(`R-246: ${header?.slice(0, 40) ?? 'no range'} of ${bytes} bytes is ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(rangeOf(header, bytes), expected);
  });
}
