import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ApiError } from '../../errors.ts';
import {
  image,
  imageRequest,
  isFault,
  KEY,
  MARKER,
  music,
  ORDER,
  picture,
  soundRequest,
  submitted,
  video,
  videoRequest,
  withEmulator,
} from './emulator/calls.ts';
import { ERRORS, type ErrorName } from './emulator/errors.ts';
import type { Script } from './emulator.ts';

const QUEUE = 'https://queue.fal.run';

const changed = (fields: object): Script => ({ kind: 'changed', change: (document) => ({ ...document, ...fields }) });

const HOSTILE = [
  'https://evil.example/fal-ai/flux/requests/1/status',
  'https://queue.fal.run.evil.example/fal-ai/flux/requests/1/status',
  'https://queue.fal.run@evil.example/fal-ai/flux/requests/1/status',
  'https://evilfal.run/fal-ai/flux/requests/1/status',
  'http://queue.fal.run/fal-ai/flux/requests/1/status',
  'https://queue.fal.run:8443/fal-ai/flux/requests/1/status',
  'wss://queue.fal.run/fal-ai/flux/requests/1/status',
  '//evil.example/status',
  '/fal-ai/flux/requests/1/status',
  'javascript:alert(1)',
  '',
];

describe('the key goes to the upstream’s own hosts only', () => {
  for (const address of HOSTILE) {
    for (const field of ['status_url', 'response_url']) {
      test(`a submission with ${field} ${JSON.stringify(address)} is garbled, and nobody is asked after it`, () =>
        withEmulator({}, async (emulator, upstream, pools) => {
          emulator.script(
            'submit',
            changed({ status_url: `${QUEUE}/s`, response_url: `${QUEUE}/r`, [field]: address }),
          );
          const asked = image.submit(imageRequest(), ORDER, { ...upstream, address: QUEUE });
          await assert.rejects(asked, isFault('garbled'));
          assert.deepEqual(pools.origins, [QUEUE]);
        }));
    }
    test(`a stored task at ${JSON.stringify(address)} is not asked after`, () =>
      withEmulator({}, async (emulator, upstream) => {
        const asked = image.poll?.({ statusUrl: address, responseUrl: address }, { ...upstream, address: QUEUE });
        await assert.rejects(asked ?? Promise.resolve(), isFault('garbled'));
        assert.deepEqual(emulator.requests, []);
      }));
  }

  test('another origin of the same machine is not the upstream’s, and never sees the key', () =>
    withEmulator({ readsUntilDone: 0 }, async (emulator, upstream) => {
      emulator.script('submit', changed({ status_url: `${emulator.files.url}/status` }));
      await assert.rejects(image.submit(imageRequest(), ORDER, upstream), isFault('garbled'));
      const ask = await submitted(image, imageRequest(), upstream);
      emulator.script('status', { kind: 'raw', status: 302, body: '' });
      await assert.rejects(ask(), isFault('garbled'));
      assert.equal((await ask()).state, 'succeeded');
      assert.deepEqual(emulator.files.requests, []);
    }));

  test('the vendor’s other hosts are its own where the upstream is the vendor’s queue', () =>
    withEmulator({ readsUntilDone: 0 }, async (emulator, upstream, pools) => {
      const own = { ...upstream, address: QUEUE };
      emulator.script('submit', {
        kind: 'changed',
        change: ({ request_id: id }) => ({
          status_url: `https://rest.fal.ai/fal-ai/flux/requests/${String(id)}/status?logs=0`,
          response_url: `https://fal.run/fal-ai/flux/requests/${String(id)}`,
        }),
      });
      const ask = await submitted(image, imageRequest(), own);
      assert.equal((await ask()).state, 'succeeded');
      assert.deepEqual(pools.origins, [QUEUE, 'https://rest.fal.ai', 'https://fal.run']);
      assert.match(emulator.requests[1]?.path ?? '', /status\?logs=0$/);
    }));

  test('they are its own where the configuration says that another server is the vendor’s queue', () =>
    withEmulator({ readsUntilDone: 0 }, async (emulator, upstream, pools) => {
      const status_url = `${QUEUE}/fal-ai/flux/requests/1/status`;
      emulator.script('submit', changed({ status_url }));
      await submitted(image, imageRequest(), { ...upstream, dialect: 'fal' });
      assert.deepEqual(pools.origins, [upstream.address]);
    }));

  test('they are not where it is another server', () =>
    withEmulator({}, async (emulator, upstream) => {
      emulator.script('submit', changed({ status_url: `${QUEUE}/fal-ai/flux/requests/1/status` }));
      await assert.rejects(image.submit(imageRequest(), ORDER, upstream), isFault('garbled'));
    }));
});

describe('nothing of the vendor’s is in what a caller is told', () => {
  for (const error of Object.keys(ERRORS) as ErrorName[]) {
    test(`${error} becomes a code of our own`, () =>
      withEmulator({ readsUntilDone: 0 }, async (emulator, upstream) => {
        emulator.outcome({ kind: 'failure', error, isInStatus: true });
        const ask = await submitted(image, imageRequest(), upstream);
        const told = await ask().catch((thrown: unknown) => thrown);
        assert.ok(typeof told === 'object' && told !== null);
        const code = 'fault' in told ? 'none' : 'code' in told && told.code;
        assert.ok(['none', 'upstream_failed', 'upstream_rejected', 'content_rejected'].includes(String(code)));
        assert.doesNotMatch(JSON.stringify(told), new RegExp(KEY));
      }));
  }

  const REFUSED: readonly { name: string; check: () => void }[] = [
    { name: 'a field', check: () => image.check(imageRequest({ mask: picture }), 'fal-ai/flux/dev') },
    { name: 'a tier', check: () => image.check(imageRequest({ resolution: '8k' }), `fal-ai/flux/${MARKER}`) },
    { name: 'a frame', check: () => video.check(videoRequest({ lastFrame: picture }), 'fal-ai/veo3.1/image-to-video') },
    {
      name: 'a length',
      check: () => video.check(videoRequest({ seconds: 5.5 }), 'fal-ai/kling-video/v3/text-to-video'),
    },
    { name: 'a format', check: () => music.check(soundRequest({ format: 'aac' }), 'fal-ai/elevenlabs/music') },
  ];
  for (const { name, check } of REFUSED) {
    test(`the refusal of ${name} names neither vendor nor model`, () => {
      assert.throws(check, (error) => {
        assert.ok(error instanceof ApiError);
        assert.equal(error.code, 'unsupported_parameter');
        assert.doesNotMatch(error.message, new RegExp(`fal|flux|veo|kling|eleven|${MARKER}`, 'i'));
        return true;
      });
    });
  }
});
