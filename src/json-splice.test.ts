import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withMember } from './json-splice.ts';

for (const [name, before, after] of [
  ['a first member', '{"model":"a","b":1}', '{"model":"new","b":1}'],
  ['a last member', '{"b":[1, 2],"model" : "a"}', '{"b":[1, 2],"model" :"new"}'],
  [
    'white space stays where it is not around the value',
    '{ "b" : 1.0 ,\n "model":"a"\t}',
    '{ "b" : 1.0 ,\n "model":"new"}',
  ],
  ['every one of several', '{"model":1,"b":2,"model":"x"}', '{"model":"new","b":2,"model":"new"}'],
  ['a name in escapes', '{"\\u006dodel":"a"}', '{"\\u006dodel":"new"}'],
  ['none that lies deeper', '{"b":{"model":"a"},"c":["model",{"model":1}]}', undefined],
  ['none in a text', '{"b":"\\"model\\":\\"a\\",\\\\","c":"model"}', undefined],
  ['a value that is an object', '{"model":{"model":"}"},"b":1}', '{"model":"new","b":1}'],
  ['no name at all', '{"b":"model","c":1}', undefined],
  [
    'letters of other scripts',
    '{"b":"\u4e16\u754c \ud83d\ude00","model":"\u4e16"}',
    '{"b":"\u4e16\u754c \ud83d\ude00","model":"new"}',
  ],
] as const) {
  test(`replaces ${name}`, () => {
    assert.equal(withMember(Buffer.from(before), 'model', '"new"').toString(), after ?? before);
  });
}
