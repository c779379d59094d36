import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { Gateway } from './support/gateway.ts';
import { paidCaller } from './support/paid-calls.ts';

let gateway: Gateway;
let key: string;
before(async () => {
  gateway = await Gateway.start({ settings: { TOLLGATE_RPM: '1000' } });
  ({ key } = await gateway.newCaller());
});
afterEach(() => gateway.assertBooksBalance());
after(() => gateway.stop());

const estimate = (body: Record<string, unknown>) => gateway.call('POST', '/v1/estimate', { key, body });
const message = { role: 'user', content: 'x'.repeat(350) };

// What the built-in catalogue's prices come to.
for (const [body, credits] of [
  [{ endpoint: 'images', model: 'sandbox/image', prompt: 'a cat' }, 10],
  [{ endpoint: 'images', model: 'sandbox/image', prompt: 'a cat', n: 3, resolution: '4k', quality: 'low' }, 60],
  [{ endpoint: 'images', model: 'sandbox/image', prompt: 'a cat', metadata: { resolution: '2k' } }, 20],
  [{ endpoint: 'image_edits', model: 'sandbox/image', prompt: 'a hat', n: 10 }, 100],
  [{ endpoint: 'audio_music', model: 'sandbox/music', prompt: 'slow' }, 50],
  [{ endpoint: 'audio_music', model: 'sandbox/music', prompt: 'slow', n: 2 }, 100],
  [{ endpoint: 'audio_speech', model: 'sandbox/speech', input: 'é'.repeat(20) }, 0.3],
  [{ endpoint: 'embeddings', model: 'sandbox/embedding', input: 'x'.repeat(35_000) }, 1],
  [{ endpoint: 'embeddings', model: 'sandbox/embedding', input: ['x'.repeat(3500), 'x'.repeat(3500)] }, 0.2],
  [{ endpoint: 'embeddings', model: 'sandbox/embedding', input: [[1, 2, 3], [4]] }, 0.0004],
  [{ endpoint: 'transcriptions', model: 'sandbox/transcribe', duration_seconds: 90.5 }, 9.05],
] as const) {
  test(`R-278: ${JSON.stringify(body)} would reserve ${credits} credits`, async () => {
    const answer = await estimate(body);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.json.credits, credits);
  });
}

test('R-162 R-163: a clip’s estimate is seconds × rate × resolution, and flags add to it', async () => {
  const clip = { endpoint: 'videos', model: 'sandbox/video', prompt: 'a wave', seconds: 4, resolution: '480p' };
  const plain = (await estimate(clip)).json;
  const [{ count, rate }] = plain.factors.units;
  const ratio = plain.factors.ratios.reduce((product: number, chosen: { ratio: number }) => product * chosen.ratio, 1);
  assert.equal(count, 4000);
  assert.equal(plain.credits, 4 * rate * ratio);
  assert.ok((await estimate({ ...clip, generate_audio: true })).json.credits > plain.credits);
  assert.equal((await estimate({ ...clip, seconds: '8' })).json.credits, plain.credits * 2);
});

test('R-351 R-372: a clip asked for by its size costs what its resolution costs', async () => {
  const clip = { endpoint: 'videos', model: 'sandbox/video', prompt: 'a wave', seconds: 4 };
  const byTier = (await estimate({ ...clip, resolution: '1080p' })).json;
  const bySize = (await estimate({ ...clip, size: '1080x1920' })).json;
  assert.deepEqual(bySize.factors, byTier.factors);
  assert.equal(byTier.factors.ratios[0].ratio, 2);
});

test('R-278: chat counts its input and the output it asks for, or the model’s most', async () => {
  const chat = { endpoint: 'chat', model: 'sandbox/chat', messages: [message] };
  const units = async (body: Record<string, unknown>) => {
    const { factors } = (await estimate(body)).json;
    return Object.fromEntries(factors.units.map((unit: { unit: string; count: number }) => [unit.unit, unit.count]));
  };
  const counted = await units({ ...chat, max_completion_tokens: 50 });
  assert.equal(counted.output_tokens, 50);
  assert.ok(counted.input_tokens >= 100 && counted.input_tokens < 150, `${counted.input_tokens} tokens`);
  assert.equal((await units(chat)).output_tokens, 4096);
  assert.equal((await units({ ...chat, max_tokens: 10, n: 3 })).output_tokens, 30);
});

test('R-278: every format of chat is estimated as the chat call that it becomes', async () => {
  const { content: text } = message;
  const sent = { model: 'sandbox/chat', messages: [message], max_tokens: 20 };
  const { factors, credits } = (await estimate({ endpoint: 'chat', ...sent })).json;
  for (const [endpoint, body] of [
    ['messages', sent],
    ['responses', { model: 'sandbox/chat', input: text, max_output_tokens: 20 }],
  ] as const) {
    const { json } = await estimate({ endpoint, ...body });
    assert.deepEqual([json.endpoint, json.credits], [endpoint, credits]);
    assert.deepEqual(json.factors, factors);
  }
});

test('R-278: an estimate of a responses body counts the items that it refers to', async () => {
  const { key } = await paidCaller(gateway);
  const sent = { model: 'sandbox/chat', max_output_tokens: 1 };
  const made = await gateway.call('POST', '/v1/responses', { key, body: { ...sent, input: 'Hello there' } });
  const [{ id }] = made.json.output;
  const input = [{ role: 'user', content: 'And then?' }];
  const creditsOf = async (items: readonly object[]) =>
    (await gateway.call('POST', '/v1/estimate', { key, body: { endpoint: 'responses', ...sent, input: items } })).json
      .credits;
  assert.ok((await creditsOf([{ type: 'item_reference', id }, ...input])) > (await creditsOf(input)));
});

test('R-278: a picture in a message counts by the piece and not by its bytes', async () => {
  const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(400_000)}` } };
  const answer = await estimate({
    endpoint: 'chat',
    model: 'sandbox/chat',
    messages: [{ role: 'user', content: [picture] }],
    max_tokens: 1,
  });
  assert.ok(answer.json.credits < 5, answer.text);
});

test('R-278: the native format is estimated from its contents', async () => {
  const native = { endpoint: 'native', model: 'sandbox/native', contents: [{ parts: [{ text: 'x'.repeat(3500) }] }] };
  const { json } = await estimate({ ...native, generationConfig: { maxOutputTokens: 1000 } });
  assert.ok(json.credits > 5 && json.credits < 5.2, JSON.stringify(json));
});

for (const [body, status, code] of [
  [{}, 400, 'invalid_parameter'],
  [{ endpoint: 'pictures', model: 'sandbox/image' }, 400, 'invalid_parameter'],
  [{ endpoint: 'images' }, 400, 'missing_model'],
  [{ endpoint: 'images', model: '' }, 400, 'missing_model'],
  [{ endpoint: 'images', model: 'sandbox/image' }, 400, 'missing_prompt'],
  [{ endpoint: 'embeddings', model: 'sandbox/embedding' }, 400, 'missing_input'],
  [{ endpoint: 'images', model: 'no/such', prompt: 'x' }, 404, 'model_not_found'],
  [{ endpoint: 'videos', model: 'sandbox/image', prompt: 'x' }, 404, 'model_not_found'],
  [{ endpoint: 'images', model: 'sandbox/image', prompt: 'x', n: 11 }, 400, 'invalid_n'],
  [{ endpoint: 'images', model: 'sandbox/image', prompt: 'x', n: 0 }, 400, 'invalid_n'],
  [{ endpoint: 'images', model: 'sandbox/image', prompt: 'x', n: '3' }, 400, 'invalid_n'],
  [
    { endpoint: 'images', model: 'sandbox/image', prompt: 'x', resolution: '1k', metadata: { resolution: '2k' } },
    400,
    'conflicting_parameters',
  ],
  [{ endpoint: 'videos', model: 'sandbox/video', prompt: 'x', seconds: -1 }, 400, 'invalid_seconds'],
  [{ endpoint: 'videos', model: 'sandbox/video', prompt: 'x', seconds: 'long' }, 400, 'invalid_seconds'],
  [{ endpoint: 'videos', model: 'sandbox/video', prompt: 'x', seconds: 3, duration: 4 }, 400, 'conflicting_parameters'],
  [{ endpoint: 'videos', model: 'sandbox/video' }, 400, 'missing_prompt'],
  [{ endpoint: 'videos', model: 'sandbox/video', prompt: 'x', seconds: 16 }, 400, 'unsupported_parameter'],
  [{ endpoint: 'videos', model: 'sandbox/video', prompt: 'x', resolution: '4k' }, 400, 'unsupported_parameter'],
  [
    { endpoint: 'videos', model: 'sandbox/video', prompt: 'x', size: '1280x720', resolution: '1080p' },
    400,
    'conflicting_parameters',
  ],
  [{ endpoint: 'videos', model: 'sandbox/video', first_frame: 'kitten' }, 400, 'invalid_input_reference'],
  [{ endpoint: 'images', model: 'sandbox/image', prompt: 'x', resolution: '8k' }, 400, 'unsupported_parameter'],
  [
    { endpoint: 'images', model: 'sandbox/image', prompt: 'x', size: '1024x1024', aspect_ratio: '16:9' },
    400,
    'conflicting_parameters',
  ],
  [{ endpoint: 'images', model: 'sandbox/image', prompt: 'x', mask: '' }, 400, 'empty_mask'],
  [{ endpoint: 'images', model: 'sandbox/image', prompt: 'x', hook: 'ftp://a.example' }, 400, 'url_in_extra'],
  [{ endpoint: 'audio_speech', model: 'sandbox/speech', input: 'x', output: 'file' }, 400, 'invalid_output'],
  [{ endpoint: 'chat', model: 'sandbox/chat' }, 400, 'missing_messages'],
  [{ endpoint: 'chat', model: 'sandbox/chat', messages: [] }, 400, 'missing_messages'],
  [{ endpoint: 'chat', model: 'sandbox/chat', messages: [message], max_tokens: 0 }, 400, 'invalid_parameter'],
  [
    { endpoint: 'chat', model: 'sandbox/chat', messages: [message], max_tokens: 10_000_000, n: 128 },
    400,
    'invalid_parameter',
  ],
  [{ endpoint: 'messages', model: 'sandbox/chat', messages: [message] }, 400, 'invalid_parameter'],
  [{ endpoint: 'messages', model: 'sandbox/chat', max_tokens: 1 }, 400, 'missing_messages'],
  [{ endpoint: 'messages', model: 'sandbox/image', messages: [message], max_tokens: 1 }, 404, 'model_not_found'],
  [{ endpoint: 'responses', model: 'sandbox/chat' }, 400, 'missing_input'],
  [
    { endpoint: 'responses', model: 'sandbox/chat', input: [{ type: 'item_reference', id: 'msg_1' }] },
    400,
    'item_not_found',
  ],
  [{ endpoint: 'audio_speech', model: 'sandbox/speech' }, 400, 'missing_input'],
  [{ endpoint: 'audio_speech', model: 'sandbox/speech', input: 'x'.repeat(40_001) }, 413, 'text_too_long'],
  [{ endpoint: 'audio_speech', model: 'sandbox/speech', input: 'x', n: 9 }, 400, 'invalid_n'],
  [{ endpoint: 'audio_music', model: 'sandbox/music', prompt: 'x', duration: -2 }, 400, 'invalid_duration'],
  [{ endpoint: 'transcriptions', model: 'sandbox/transcribe' }, 400, 'invalid_duration'],
] as const) {
  test(`R-278: an estimate of ${JSON.stringify(body).slice(0, 120)} is refused as ${code}`, async () => {
    const answer = await estimate(body);
    assert.deepEqual([answer.status, answer.json.error.code], [status, code], answer.text);
  });
}

test('R-376 R-377: exactly 40 000 characters are counted by code points', async () => {
  const answer = await estimate({ endpoint: 'audio_speech', model: 'sandbox/speech', input: '😀'.repeat(40_000) });
  assert.equal(answer.status, 200);
  assert.equal(answer.json.factors.units[0].count, 40_000);
});

const RATES = {
  per_image: { base: 1 },
  per_request: { base: 1 },
  per_second: { per_second: 1 },
  per_token: { input_per_k: 1, output_per_k: 1 },
  per_k_char: { base: 1 },
  per_audio_second: { per_second: 1 },
};

for (const [endpoint, modality, asked] of [
  ['images', 'image', { prompt: 'a cat' }],
  ['image_edits', 'image', { prompt: 'a hat' }],
  ['videos', 'video', { prompt: 'a wave' }],
  ['chat', 'chat', { messages: [message] }],
  ['native', 'chat', { contents: [{ parts: [{ text: 'hello' }] }] }],
  ['audio_speech', 'audio', { input: 'hello' }],
  ['transcriptions', 'audio', { duration_seconds: 1 }],
  ['audio_music', 'audio', { prompt: 'slow' }],
] as const) {
  test(`R-156: ${endpoint} can be charged by a mode of pricing, or its configuration is refused`, async () => {
    const taken = [];
    for (const [mode, credits] of Object.entries(RATES)) {
      const pricing = { mode, credits };
      const routes = [{ upstream: 'sandbox', model: 'any' }];
      const model = { id: 'priced', modality, owned_by: 'house', endpoints: [endpoint], pricing, routes };
      const upstreams = [{ id: 'sandbox', vendor: 'sandbox' }];
      const applied = await gateway.admin('PUT', '/config', { upstreams, models: [model] });
      if (applied.status !== 200) {
        assert.match(applied.text, new RegExp(`${mode} does not fit ${endpoint}`));
        continue;
      }
      taken.push(mode);
      const answer = await estimate({ endpoint, model: 'priced', ...asked });
      assert.ok(answer.json.credits > 0, `${mode}: ${answer.text}`);
    }
    assert.ok(taken.includes('per_request') && taken.length > 1, taken.join());
  });
}
