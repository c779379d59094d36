import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import sharp from 'sharp';
import { byKey, ConsoleSite } from './support/console-site.ts';
import type { NewCaller } from './support/gateway.ts';
import { CLIENTS, connect, jobIn, type Progress, refusal, succeeded, textOf } from './support/mcp-clients.ts';
import { moneyOf, paidCaller, spentInTheEnd } from './support/paid-calls.ts';

const site = new ConsoleSite();
before(() => site.start({ settings: { TOLLGATE_TEST_CLOCK: '1' } }));
after(() => site.stop());
afterEach(() => site.gateway.assertBooksBalance());

const bearer = ({ key }: NewCaller) => ({ authorization: `Bearer ${key}` });
const PICTURE = { prompt: 'a gate', size: '256x256', model: 'sandbox/image' };

const NAMES = [
  'generate_image',
  'edit_image',
  'generate_video',
  'generate_music',
  'speak',
  'transcribe',
  'list_models',
  'estimate',
  'get_job',
  'credits',
];

for (const name of CLIENTS) {
  describe(`the official client ${name}`, () => {
    test('lists the tools, with what a person is asked by', async () => {
      const caller = await paidCaller(site.gateway);
      await using client = await connect(name, site.gateway.url, bearer(caller));
      assert.equal(client.revision, name === 'v2 auto' ? '2026-07-28' : '2025-11-25');
      const tools = await client.tools();
      assert.deepEqual(
        tools.map((tool) => tool.name),
        NAMES,
      );
      const readers = tools.filter(({ annotations }) => annotations.readOnlyHint).map((tool) => tool.name);
      assert.deepEqual(readers, ['transcribe', 'list_models', 'estimate', 'get_job', 'credits']);
      assert.deepEqual(tools[0].inputSchema.required, ['prompt']);
    });

    test('makes a picture that stands in the answer, changes it, and pays for both', async () => {
      const caller = await paidCaller(site.gateway);
      await using client = await connect(name, site.gateway.url, bearer(caller));
      const made = succeeded(await client.call('generate_image', PICTURE));
      assert.match(
        textOf(made),
        /^job_\w+ succeeded with sandbox\/image for 10 credits\.\nimage ast_\w+: image\/png, 256x256/,
      );
      const [, image, link] = made.content;
      assert.deepEqual([image.type, link.type], ['image', 'resource_link']);
      const { width, height } = await sharp(Buffer.from(image.data, 'base64')).metadata();
      assert.deepEqual([width, height], [256, 256]);
      assert.ok(textOf(made).includes(link.uri));
      const asset = /ast_\w+/.exec(textOf(made))?.[0];
      const edited = succeeded(await client.call('edit_image', { ...PICTURE, prompt: 'a blue gate', images: [asset] }));
      assert.equal(edited.content[1].type, 'image');
      assert.equal(await spentInTheEnd(site.gateway, caller), 20);
    });

    test('makes a clip, hears of its progress, and finds it again', async () => {
      const caller = await paidCaller(site.gateway);
      await using client = await connect(name, site.gateway.url, bearer(caller));
      const heard: Progress[] = [];
      const clip = { prompt: 'a gate', seconds: 1, size: '854x480' };
      const made = succeeded(
        await client.call('generate_video', clip, { onprogress: (progress) => heard.push(progress) }),
      );
      assert.match(textOf(made), /video ast_\w+: video\/mp4, 854x480, 1 s/);
      assert.ok(made.content.every(({ type }: { type: string }) => type !== 'audio'));
      const job = jobIn(textOf(made));
      assert.match(heard[0]?.message ?? '', new RegExp(`^${job} is queued`));
      for (const [place, { progress }] of heard.entries()) assert.ok(progress > (heard[place - 1]?.progress ?? -1));
      const found = succeeded(await client.call('get_job', { job_id: job }));
      assert.deepEqual(
        [found.structuredContent.status, found.structuredContent.assets.length > 0],
        ['succeeded', true],
      );
      const { available } = await moneyOf(site.gateway, caller);
      const credits = succeeded(await client.call('credits'));
      assert.equal(credits.structuredContent.available, available);
    });

    test('speaks, and hears what was said', async () => {
      const caller = await paidCaller(site.gateway);
      await using client = await connect(name, site.gateway.url, bearer(caller));
      const spoken = succeeded(await client.call('speak', { text: 'Hello', model: 'sandbox/speech', format: 'mp3' }));
      assert.match(textOf(spoken), /^Read aloud with sandbox\/speech for 0\.075 credits\.\naudio: audio\/mpeg/);
      const [, sound] = spoken.content;
      assert.deepEqual([sound.type, sound.mimeType], ['audio', 'audio/mpeg']);
      const file = (await site.made(byKey(caller.key), 'file')).json.id;
      // A picture is no recording.
      assert.match(
        refusal(await client.call('transcribe', { audio: file, model: 'site/transcribe' })),
        /unsupported_audio_format|invalid_input_url/,
      );
      const url = /https?:\/\/\S+/.exec(textOf(spoken))?.[0];
      const text = succeeded(await client.call('transcribe', { audio: url, model: 'site/transcribe' }));
      assert.match(textOf(text), /^Transcribed .* credits\. The text:$/);
      assert.ok(text.content[1].text.length > 0);
    });

    test('is told models with prices, and what a call would cost', async () => {
      const caller = await paidCaller(site.gateway);
      await using client = await connect(name, site.gateway.url, bearer(caller));
      const models = succeeded(await client.call('list_models', { modality: 'image' }));
      const listed = (await site.gateway.call('GET', '/v1/models', { key: caller.key })).json.data;
      assert.deepEqual(
        models.structuredContent.data,
        listed.filter(({ modality }: { modality: string }) => modality === 'image'),
      );
      assert.match(textOf(models), /^sandbox\/image \(image; images, image_edits\): \{"mode":"per_image"/);
      const price = succeeded(
        await client.call('estimate', { tool: 'generate_image', arguments: { ...PICTURE, n: 3 } }),
      );
      assert.equal(price.structuredContent.credits, 30);
      assert.equal((await moneyOf(site.gateway, caller)).spent, 0);
    });

    test('is told what to change', async () => {
      const poor = await paidCaller(site.gateway, 5);
      await using client = await connect(name, site.gateway.url, bearer(poor));
      const message = refusal(await client.call('generate_image', PICTURE));
      assert.match(
        message,
        /^The balance does not cover this request: 10 credits are needed and 5 are available\. Compare prices/,
      );
      assert.match(refusal(await client.call('generate_image', { ...PICTURE, model: 'none' })), /model_not_found/);
      assert.match(refusal(await client.call('get_job', { job_id: 'job_none' })), /job_not_found/);
    });
  });
}
