import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fault } from '../../errors.ts';
import { CONTENT, outcome, STOP } from './emulator/calls.ts';
import type { Script } from './emulator.ts';

const STREAMS: readonly { name: string; script: Script; count: number; fault: Fault | undefined }[] = [
  { name: 'ends with its marker', script: { kind: 'frames', frames: [CONTENT, STOP] }, count: 2, fault: undefined },
  {
    name: 'ends finished and without its marker',
    script: { kind: 'frames', frames: [CONTENT, STOP], end: 'close' },
    count: 2,
    fault: undefined,
  },
  {
    name: 'ends without being finished',
    script: { kind: 'frames', frames: [CONTENT], end: 'close' },
    count: 1,
    fault: 'server',
  },
  { name: 'is reset', script: { kind: 'frames', frames: [CONTENT], end: 'reset' }, count: 1, fault: 'connection' },
  { name: 'is reset at once', script: { kind: 'frames', frames: [], end: 'reset' }, count: 0, fault: 'connection' },
  {
    name: 'is cut in a frame',
    script: { kind: 'frames', frames: [CONTENT, 'data: {"choices":[{"ind'], end: 'close' },
    count: 1,
    fault: 'server',
  },
  {
    name: 'has a frame that is no JSON',
    script: { kind: 'frames', frames: [CONTENT, 'data: {"choices"\n\n'] },
    count: 1,
    fault: 'garbled',
  },
  {
    name: 'has a frame of an unknown shape',
    script: { kind: 'frames', frames: [CONTENT, { hello: 1 }] },
    count: 1,
    fault: 'garbled',
  },
  {
    name: 'has an error in a frame',
    script: {
      kind: 'frames',
      frames: [CONTENT, { error: { message: 'x', code: 'rate_limit_exceeded' } }],
      end: 'close',
    },
    count: 1,
    fault: 'rate',
  },
  {
    name: 'has an event that is an error',
    script: { kind: 'frames', frames: [CONTENT, 'event: error\ndata: {"message":"x","code":"slow_down"}\n\n'] },
    count: 1,
    fault: 'rate',
  },
  {
    name: 'has an event that is an error without words',
    script: { kind: 'frames', frames: [CONTENT, 'event: error\n\n'] },
    count: 1,
    fault: 'server',
  },
  {
    name: 'has a frame that tells nothing',
    script: { kind: 'frames', frames: [{ choices: [] }, CONTENT, STOP] },
    count: 2,
    fault: undefined,
  },
  {
    name: 'goes on behind its marker',
    script: { kind: 'frames', frames: [CONTENT, STOP, 'data: [DONE]\n\n', CONTENT], end: 'close' },
    count: 2,
    fault: undefined,
  },
  {
    name: 'is reset behind its marker',
    script: { kind: 'frames', frames: [CONTENT, STOP, 'data: [DONE]\n\n'], end: 'reset' },
    count: 2,
    fault: undefined,
  },
  { name: 'has nothing but its marker', script: { kind: 'frames', frames: [] }, count: 0, fault: undefined },
  { name: 'has nothing', script: { kind: 'fault', fault: 'empty stream' }, count: 0, fault: undefined },
  { name: 'is reset before its headers', script: { kind: 'fault', fault: 'reset' }, count: 0, fault: 'connection' },
  { name: 'is not HTTP', script: { kind: 'fault', fault: 'garbage' }, count: 0, fault: 'connection' },
  { name: 'is a web page', script: { kind: 'fault', fault: 'wrong content type' }, count: 0, fault: 'garbled' },
  { name: 'is a document', script: { kind: 'raw', body: '{"choices":[]}' }, count: 0, fault: 'garbled' },
  {
    name: 'is a document of an error',
    script: { kind: 'raw', body: '{"code":"content_policy_violation","error":"no"}' },
    count: 0,
    fault: 'policy',
  },
];

for (const { name, script, count, fault } of STREAMS) {
  const ending = fault === undefined ? 'ends well' : `fails as ${fault}`;
  test(`a stream that ${name} ${ending} after ${count} chunks`, async () => {
    assert.deepEqual(await outcome(script), { count, fault });
  });
}
