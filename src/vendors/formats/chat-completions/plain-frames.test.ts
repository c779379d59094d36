import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PlainFrames } from './plain-frames.ts';

const BODY = { service_tier: 'default' };
const frame = (choices: unknown, more: object = {}) => JSON.stringify({ id: 'x', model: 'secret', choices, ...more });
const says = (content: string, index = 0) => [{ index, delta: { content }, finish_reason: null }];

function taught(...frames: readonly string[]): PlainFrames {
  const plain = new PlainFrames();
  for (const data of frames) plain.learn(data, BODY);
  return plain;
}

test('a frame like one that was parsed is read to the same text, whatever it says', () => {
  const plain = taught(frame(says('first')));
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat({ max: 999 }), (content, index) => {
      const choices = says(content.toWellFormed(), index);
      const read = plain.read(frame(choices));
      assert.deepEqual(read && JSON.parse(read.choices), choices);
      assert.deepEqual([read?.content, read?.index, read?.body], [content.toWellFormed(), index, BODY]);
    }),
  );
});

test('what is not JSON to the letter is left to the parser', () => {
  const plain = taught(frame(says('first')));
  const good = frame(says('x'));
  for (const bad of ['\u0007', '\\x', '\\u12', '"', '\\'])
    assert.equal(plain.read(good.replace('"x"}', `"${bad}"}`)), undefined);
  assert.equal(plain.read(good.slice(0, -1)), undefined);
  assert.equal(plain.read(good.replace('"index":0', '"index":00')), undefined);
});

const OTHERS: readonly [name: string, data: string][] = [
  ['another field around the choices', frame(says('x'), { provider: 'secret' })],
  ['another value around the choices', frame(says('x')).replace('secret', 'other')],
  ['a field beside the text', frame([{ index: 0, delta: { content: 'x', name: 'secret' }, finish_reason: null }])],
  ['a field beside the delta', frame([{ index: 0, delta: { content: 'x' }, finish_reason: null, name: 'secret' }])],
  ['an end', frame([{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }])],
  ['two choices', frame([...says('x'), ...says('y', 1)])],
  ['no choices', frame([])],
];

for (const [name, data] of OTHERS) {
  test(`a frame with ${name} is left to the parser`, () =>
    assert.equal(taught(frame(says('first'))).read(data), undefined));
}

const UNTAUGHT: readonly [name: string, data: string][] = [
  ['nests before the choices', `{"a":{"choices":${JSON.stringify(says('x'))}},"choices":[]}`],
  ['nests behind them', frame(says('x'), { usage: { prompt_tokens: 1 } })],
  ['has choices twice', `{"choices":${JSON.stringify(says('x'))},"choices" :null}`],
  ['writes a name in escapes', `{"choices":${JSON.stringify(says('x'))},"ch\\u006fices":null}`],
  ['has no choices', '{"id":"x"}'],
];

for (const [name, data] of UNTAUGHT) {
  test(`nothing is learnt from a frame that ${name}`, () => assert.equal(taught(data).read(data), undefined));
}
