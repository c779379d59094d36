import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passagesOf } from './passages.ts';
import { HEARING_RATE, Pauses } from './pauses.ts';
import { Resampler } from './resampler.ts';

/** A tone, as long as asked, with this many rounds in a second. */
function tone(rounds: number, seconds: number, rate: number, loudness = 0.5): Float32Array {
  return Float32Array.from(
    { length: seconds * rate },
    (_, at) => loudness * Math.sin((2 * Math.PI * rounds * at) / rate),
  );
}

function joined(parts: readonly Float32Array[]): Float32Array {
  return Float32Array.from(parts.flatMap((part) => [...part]));
}

/** In bits of different sizes, as decoders give them. */
function resampled(samples: Float32Array, from: number, to: number): Float32Array {
  const resampler = new Resampler(from, to);
  const parts: Float32Array[] = [];
  for (let at = 0, size = 1; at < samples.length; at += size, size = (size * 7) % 1_151) {
    parts.push(resampler.push(samples.subarray(at, at + size)));
  }
  return joined([...parts, resampler.end()]);
}

for (const [from, to] of [
  [48_000, 16_000],
  [44_100, 16_000],
  [8_000, 16_000],
  [16_000, 16_000],
  [14_080, 24_000],
] as const) {
  test(`a tone at ${from} Hz is the same tone at ${to} Hz`, () => {
    const made = resampled(tone(440, 0.5, from), from, to);
    const meant = tone(440, 0.5, to);
    assert.equal(made.length, meant.length);
    // At both ends there is silence beside it.
    for (let at = 200; at < meant.length - 200; at++) assert.ok(Math.abs((made[at] ?? 9) - (meant[at] ?? 0)) < 0.005);
  });
}

test('a tone that is too high for the new rate is left out', () => {
  const made = resampled(tone(11_000, 0.5, 48_000), 48_000, 16_000);
  assert.ok(made.subarray(200, -200).every((sample) => Math.abs(sample) < 0.01));
});

const silence = (seconds: number) => new Float32Array(seconds * HEARING_RATE);
const noise = (seconds: number) => tone(200, seconds, HEARING_RATE, 0.2);

function stretchesOf(samples: Float32Array): { start: number; seconds: number }[] {
  const pauses = new Pauses();
  const stretches = [];
  for (let at = 0; at < samples.length; at += 1_000) stretches.push(...pauses.push(samples.subarray(at, at + 1_000)));
  stretches.push(...pauses.end());
  return stretches.map(({ samples, startSeconds }) => ({
    start: startSeconds,
    seconds: samples.length / HEARING_RATE,
  }));
}

test('sound is cut where it pauses, and silence is left out', () => {
  const stretches = stretchesOf(joined([silence(10), noise(5), silence(1), noise(2), silence(10)]));
  assert.deepEqual(stretches, [
    { start: 9.8, seconds: 5.4 },
    { start: 15.8, seconds: 2.4 },
  ]);
  assert.deepEqual(stretchesOf(silence(30)), []);
  assert.deepEqual(stretchesOf(silence(0)), []);
});

test('sound without a pause is cut where it is least loud, and nothing of it is lost', () => {
  const stretches = stretchesOf(joined([noise(11), tone(200, 0.2, HEARING_RATE, 0.05), noise(20)]));
  assert.ok(Math.abs((stretches[0]?.seconds ?? 0) - 11.1) < 0.1);
  let at = 0;
  for (const { start, seconds } of stretches) {
    assert.ok(seconds <= 15 && Math.abs(start - at) < 1e-9);
    at = start + seconds;
  }
  assert.ok(Math.abs(at - 31.2) < 0.03);
});

test('sentences are said together as far as they fit, and a long one is parted where one breathes', () => {
  assert.deepEqual([...passagesOf('One. Two! Three?')], ['One. Two! Three?']);
  assert.deepEqual([...passagesOf('… !')], []);
  const clause = `${'word '.repeat(30).trim()}, `;
  const parts = [...passagesOf(clause.repeat(3))];
  assert.deepEqual(parts, [clause.trim(), clause.trim(), clause.trim()]);
  for (const text of ['x'.repeat(1_000), 'Hello there. '.repeat(100)]) {
    const passages = [...passagesOf(text)];
    assert.ok(passages.every(({ length }) => length > 0 && length <= 240));
    assert.equal(passages.join('').replaceAll(' ', ''), text.replaceAll(' ', ''));
  }
});
