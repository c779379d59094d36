import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import { KEY, withEmulator } from './emulator/calls.ts';

// The vendor has no library of its own and names this one in its manual.
test('the library that the vendor names takes the emulator for the vendor', () =>
  withEmulator(async ({ emulator }) => {
    const client = new OpenAI({ baseURL: emulator.url, apiKey: KEY, maxRetries: 0 });
    const asked = { model: 'recraftv3', prompt: 'A toll gate', n: 2, size: '1024x1024' } as const;
    const links = await client.images.generate({ ...asked, response_format: 'url' });
    const link = await fetch(links.data?.[1]?.url ?? '');
    assert.equal(await link.text(), 'p');
    const inline = await client.images.generate({ ...asked, response_format: 'b64_json' });
    assert.deepEqual(
      inline.data?.map(({ b64_json: base64 }) => Buffer.from(base64 ?? '', 'base64').toString()),
      ['p', 'p'],
    );
    await assert.rejects(client.images.generate({ ...asked, quality: 'hd' }), { status: 400 });
    const stranger = new OpenAI({ baseURL: emulator.url, apiKey: 'other', maxRetries: 0 });
    await assert.rejects(stranger.images.generate(asked), { status: 401 });
  }));
