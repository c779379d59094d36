import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MEDIA_BYTES_PER_SECOND_MIN } from '../limits.ts';
import { Implausible } from './index.ts';
import { checkPlausible, playedSeconds } from './measured.ts';

const lengths: readonly [name: string, stated: number, counted: number, seconds: number][] = [
  ['a second more is what encoders fill', 10, 11, 10],
  ['more than a second is played', 10, 11.001, 11.001],
  ['of a long file, a share', 100, 105, 100],
  ['and not more', 100, 105.001, 105.001],
  ['of a very short one, half a second', 0.5, 1, 0.5],
  ['and not more', 0.5, 1.001, 1.001],
  ['pauses are lawful', 100, 1, 100],
  ['a clock that goes backwards counts nothing', -5, 3, 3],
];

for (const [name, stated, counted, seconds] of lengths) {
  test(`clock ${stated}, packets ${counted}: ${name}`, () => {
    assert.equal(playedSeconds(stated, counted), seconds);
  });
}

for (const mimeType of ['audio/wav', 'audio/mpeg', 'audio/aac', 'audio/ogg', 'audio/flac', 'video/mp4']) {
  test(`${mimeType} has a least number of bytes for each second`, () => {
    const perSecond = MEDIA_BYTES_PER_SECOND_MIN[mimeType] ?? MEDIA_BYTES_PER_SECOND_MIN.other ?? 0;
    assert.deepEqual(checkPlausible({ seconds: 100 }, 100 * perSecond, mimeType), { seconds: 100 });
    assert.throws(() => checkPlausible({ seconds: 100 }, 100 * perSecond - 1, mimeType), Implausible);
  });
}
