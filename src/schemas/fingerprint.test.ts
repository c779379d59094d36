import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { type JsonObject, parseJson } from '../json.ts';
import { fingerprint } from './fingerprint.ts';

const ROUTE = '/v1/images/generations';
const ofJson = (text: string) => fingerprint('POST', ROUTE, { json: parseJson(text).exact() as JsonObject });

test('R-260: it is SHA-256 over method, route and the JSON with sorted keys', () => {
  const canonical = String.raw`{"":null,"a":[1.0,{"x":1,"y":"\n"}],"b":true}`;
  const expected = createHash('sha256').update(`POST ${ROUTE}\n${canonical}`).digest('hex');
  assert.equal(ofJson(String.raw`{ "b": true, "a": [1.0, {"y": "\u000a", "x": 1}], "": null }`), expected);
});

for (const [name, one, other] of [
  ['the order of keys', '{"a":1,"b":{"c":2,"d":3}}', '{"b":{"d":3,"c":2},"a":1}'],
  ['white space', '{"a":[1,2]}', ' {\n "a" : [ 1 , 2 ] }\r\n'],
  ['how a character is escaped', String.raw`{"a":"\u0041\/"}`, '{"a":"A/"}'],
  ['what a repeated key said before', '{"a":1,"a":2}', '{"a":2}'],
] as const) {
  test(`R-260: ${name} makes no difference`, () => assert.equal(ofJson(one), ofJson(other)));
}

for (const [one, other] of [
  ['{"a":1}', '{"a":1.0}'],
  ['{"a":1}', '{"a":1e0}'],
  ['{"a":0}', '{"a":-0}'],
  ['{"a":9007199254740993}', '{"a":9007199254740992}'],
  ['{"a":1e400}', '{"a":1e401}'],
  ['{"a":1}', '{"a":"1"}'],
  ['{"a":null}', '{}'],
  ['{"a":[1,2]}', '{"a":[2,1]}'],
  ['{"a":[]}', '{"a":{}}'],
  ['{"a":["b"]}', '{"a":["b",""]}'],
  ['{"a":{"b":1},"c":2}', '{"a":{"b":1,"c":2}}'],
  ['{"__proto__":{"a":1}}', '{}'],
  ['{"__proto__":{"a":1}}', '{"__proto__":{"a":2}}'],
  ['{"A":1}', '{"a":1}'],
] as const) {
  test(`R-260: ${one} and ${other} are different requests`, () => assert.notEqual(ofJson(one), ofJson(other)));
}

test('R-260: keys are sorted by UTF-16 code unit', () => {
  const canonical = '{"B":1,"a":2,"é":3,"😀":4,"ﬀ":5}';
  const expected = createHash('sha256').update(`POST ${ROUTE}\n${canonical}`).digest('hex');
  assert.equal(ofJson('{"ﬀ":5,"😀":4,"é":3,"a":2,"B":1}'), expected);
});

test('R-260 R-261: the method and the route belong to the request', () => {
  const json = { model: 'm' };
  const prints = [
    fingerprint('POST', '/v1/videos', { json }),
    fingerprint('POST', '/v1/audio/music', { json }),
    fingerprint('PUT', '/v1/videos', { json }),
  ];
  assert.equal(new Set(prints).size, 3);
});

test('R-260: any JSON keeps its print however its keys are ordered, and a body of many pieces too', () => {
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, inner]) => [key, shuffled(inner)]),
    );
  };
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), (object) => {
      assert.equal(ofJson(JSON.stringify(object)), ofJson(JSON.stringify(shuffled(object))));
    }),
  );
  const large = { b: 'x'.repeat(100_000), a: Array.from({ length: 20_000 }, (_, index) => ({ index })) };
  const canonical = JSON.stringify({ a: large.a, b: large.b });
  const expected = createHash('sha256').update(`POST ${ROUTE}\n${canonical}`).digest('hex');
  assert.equal(ofJson(JSON.stringify(large)), expected);
});

const form = (...parts: (readonly [string, string | { sha256: string }])[]) =>
  fingerprint('POST', '/v1/images/edits', { form: parts });

test('R-260: a form is its part names, values and file digests in their order', () => {
  const same = () => form(['prompt', 'p'], ['image', { sha256: 'aa' }]);
  assert.equal(same(), same());
  const others = [
    form(['image', { sha256: 'aa' }], ['prompt', 'p']),
    form(['prompt', 'q'], ['image', { sha256: 'aa' }]),
    form(['prompt', 'p'], ['image', { sha256: 'ab' }]),
    form(['prompt', 'p'], ['image[]', { sha256: 'aa' }]),
    form(['prompt', 'p'], ['image', 'aa']),
    form(['prompt', 'p'], ['image', '{"sha256":"aa"}']),
    form(['prompt', 'p']),
    form(['prompt', 'p"]\n["image'], ['image', { sha256: 'aa' }]),
  ];
  assert.equal(new Set([same(), ...others]).size, others.length + 1);
});
