import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { type Fields, imageModel, sandbox } from './support/documents.ts';
import { type Answer, Gateway } from './support/gateway.ts';

let gateway: Gateway;

before(async () => {
  gateway = await Gateway.start();
});
afterEach(() => gateway.assertBooksBalance());
after(() => gateway.stop());

/** Puts these models in force, all served by one upstream that every key can use. */
async function sell(...models: Fields[]): Promise<void> {
  await gateway.putConfig({ upstreams: [sandbox('home')], models });
}

function model(id: string, fields: Fields = {}): Fields {
  return imageModel(id, ['home'], fields);
}

async function listFor(caller: { key: string }): Promise<Answer> {
  const answer = await gateway.call('GET', '/v1/models', { key: caller.key });
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

async function idsFor(caller: { key: string }): Promise<string[]> {
  return (await listFor(caller)).json.data.map((card: { id: string }) => card.id);
}

async function cardOf(id: string) {
  const { key } = await gateway.newCaller();
  const answer = await gateway.call('GET', `/v1/models/${id}`, { key });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

/** Upstreams of two groups and of none that anybody is in, and one that is switched off. */
async function sellByGroup(): Promise<void> {
  await gateway.putConfig({
    upstreams: [
      sandbox('everyone'),
      sandbox('gold', { groups: ['gold'] }),
      sandbox('nobody', { groups: ['nobody'] }),
      sandbox('off', { groups: ['default', 'gold'], enabled: false }),
    ],
    models: [
      imageModel('plain', ['everyone']),
      imageModel('golden', ['gold']),
      imageModel('both', ['off', 'gold', 'everyone']),
      imageModel('hidden', ['nobody']),
      imageModel('switched-off', ['off']),
    ],
  });
}

test('R-134: the list has the models that the key can route to, and only those', async () => {
  await sellByGroup();
  const answer = await listFor(await gateway.newCaller());
  const { object: _, data, ...page } = answer.json;
  assert.deepEqual(page, { has_more: false, first_id: data[0].id, last_id: data.at(-1).id });
  assert.equal(answer.json.object, 'list');
  assert.deepEqual(
    answer.json.data.map((card: { id: string }) => card.id),
    ['plain', 'both'],
  );
});

test('R-135: two keys in different groups see different lists, and a model that neither reaches is in neither', async () => {
  await sellByGroup();
  const [plain, gold] = [await gateway.newCaller(), await gateway.newCaller({ groups: ['gold'] })];
  assert.deepEqual(await idsFor(plain), ['plain', 'both']);
  assert.deepEqual(await idsFor(gold), ['golden', 'both']);
});

test('R-134 R-135: a key of several groups sees the models of each once', async () => {
  await sellByGroup();
  const caller = await gateway.newCaller({ groups: ['gold', 'default', 'empty'] });
  assert.deepEqual(await idsFor(caller), ['plain', 'golden', 'both']);
});

test('R-135: a key may have fewer groups than its account, and none beyond them', async () => {
  await sellByGroup();
  const narrower = await gateway.newCaller({ groups: ['default', 'gold'], key: { groups: ['gold'] } });
  assert.deepEqual(await idsFor(narrower), ['golden', 'both']);
  const beyond = await gateway.newCaller({ groups: ['default', 'gold'], key: { groups: ['default', 'gold'] } });
  await gateway.admin('PATCH', `/accounts/${beyond.accountId}`, { groups: ['default'] });
  assert.deepEqual(await idsFor(beyond), ['plain', 'both']);
});

test('R-134: a key of a group that nothing serves gets an empty list', async () => {
  await sellByGroup();
  assert.deepEqual(await idsFor(await gateway.newCaller({ groups: ['empty'] })), []);
});

test('R-134: a list asked for before a change is not the one shown after it', async () => {
  await sell(model('first'));
  const caller = await gateway.newCaller();
  assert.deepEqual(await idsFor(caller), ['first']);
  await sell(model('second'));
  assert.deepEqual(await idsFor(caller), ['second']);
});

test('R-134: the list is the same whichever encoding it travels in', async () => {
  await sell(model('compressed', { description: 'é'.repeat(500) }));
  const { key } = await gateway.newCaller();
  const plain = await listFor({ key });
  for (const encoding of ['gzip', 'br']) {
    const response = await fetch(`${gateway.url}/v1/models`, {
      headers: { authorization: `Bearer ${key}`, 'accept-encoding': encoding },
    });
    assert.equal(response.headers.get('content-encoding'), encoding);
    assert.deepEqual(await response.json(), plain.json);
  }
});

test('R-136: one model is answered as the card that the list has', async () => {
  await sell(model('a'), model('b', { tags: ['x'] }));
  const caller = await gateway.newCaller();
  const answer = await gateway.call('GET', '/v1/models/b', { key: caller.key });
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.json, (await listFor(caller)).json.data[1]);
});

const SPELLINGS: readonly (readonly [id: string, path: string])[] = [
  ['ns/name', 'ns/name'],
  ['ns/name', 'ns%2Fname'],
  ['ns/name', 'ns%2fname'],
  ['ns/name', 'ns/name?verbose=1'],
  ['a/b/c:d@e', 'a/b%2Fc:d@e'],
  ['a/b/c:d@e', 'a%2Fb/c%3Ad%40e'],
  ['plus+and;semi', 'plus+and;semi'],
  [`long/${'x'.repeat(195)}`, `long%2F${'x'.repeat(195)}`],
];

for (const [id, path] of SPELLINGS) {
  test(`R-137 R-139: /v1/models/${path.slice(0, 30)} is the card of ${id.slice(0, 30)}`, async () => {
    await sell(model('ns'), model(id));
    assert.equal((await cardOf(path)).id, id);
  });
}

test('R-137: a model id is taken intact, not decoded twice and not trimmed', async () => {
  await sell(model('ns/name'));
  const { key } = await gateway.newCaller();
  for (const path of ['ns%252Fname', 'ns//name', 'ns/name/', 'ns', 'name', 'NS/name', 'ns/name%20', '%20ns/name']) {
    const answer = await gateway.call('GET', `/v1/models/${path}`, { key });
    assert.equal(answer.status, 404, path);
    assert.equal(answer.json.error.code, 'model_not_found', path);
  }
});

test('R-137: a model whose name every object has is a model like any other, and unknown when not sold', async () => {
  await sell(model('constructor'));
  assert.equal((await cardOf('constructor')).id, 'constructor');
  const { key } = await gateway.newCaller();
  for (const id of ['__proto__', 'toString', 'hasOwnProperty']) {
    assert.equal((await gateway.call('GET', `/v1/models/${id}`, { key })).status, 404, id);
  }
});

const OUT_OF_REACH = ['golden', 'hidden', 'switched-off'];

for (const id of OUT_OF_REACH) {
  test(`R-138: the ${id} model answers as an unknown one does, byte by byte`, async () => {
    const { key } = await gateway.newCaller();
    const ask = () => gateway.call('GET', `/v1/models/${id}`, { key, headers: { 'x-request-id': 'same-for-both' } });
    await gateway.putConfig({
      upstreams: [sandbox('everyone')],
      models: [imageModel('plain', ['everyone']), imageModel('both', ['everyone'])],
    });
    const unknown = await ask();
    await sellByGroup();
    const unreachable = await ask();
    assert.equal(unreachable.status, 404);
    assert.equal(unreachable.json.error.code, 'model_not_found');
    assert.equal(unreachable.text, unknown.text);
    assert.deepEqual({ ...unreachable.headers, date: '' }, { ...unknown.headers, date: '' });
  });
}

test('R-140: created is the second in which the name was first sold, also after it was gone for a while', async () => {
  const firstSold = Math.floor(gateway.clock.nowMs() / 1000);
  await sell(model('lasting'));
  gateway.clock.advance(1000);
  await sell(model('other'));
  gateway.clock.advance(1000);
  await sell(model('lasting', { description: 'Back again' }), model('newer'));
  assert.equal((await cardOf('lasting')).created, firstSold);
  assert.equal((await cardOf('newer')).created, firstSold + 2000);
});

for (const owner of ['home', 'HOME', 'sandbox', 'openai', 'Anthropic', 'gemini']) {
  test(`R-140: a model whose owner would be "${owner}" is refused, for it names an upstream or a vendor`, async () => {
    const document = { upstreams: [sandbox('home')], models: [model('told', { owned_by: owner })] };
    const answer = await gateway.admin('PUT', '/config', document);
    assert.equal(answer.json.error.code, 'invalid_config');
    assert.match(answer.json.error.message, /models\[0\]\.owned_by/);
  });
}

test('R-140: nothing that an answer says names the upstream or its model', async () => {
  await gateway.putConfig({
    upstreams: [sandbox('secret-upstream', { groups: ['default', 'secret-group'] })],
    models: [
      imageModel('open', ['secret-upstream'], { routes: [{ upstream: 'secret-upstream', model: 'secret-wire' }] }),
    ],
  });
  const { key } = await gateway.newCaller();
  for (const path of ['/v1/models', '/v1/models/open']) {
    const { text, headers } = await gateway.call('GET', path, { key });
    assert.doesNotMatch(text + JSON.stringify(headers), /secret-|sandbox/);
  }
});

test('R-139 R-140 R-141: a card begins with exactly the four fields of the common list, each of its type', async () => {
  await sell(model('common', { owned_by: 'house' }));
  const card = await cardOf('common');
  assert.deepEqual(Object.keys(card).slice(0, 4), ['id', 'object', 'created', 'owned_by']);
  assert.deepEqual([card.id, card.object, card.owned_by], ['common', 'model', 'house']);
  assert.ok(Number.isInteger(card.created));
});

test('R-144: texts that the operator left out are empty and tags an empty list, not absent', async () => {
  await sell(model('bare'), model('full', { display_name: 'Full', description: 'All of it', tags: ['a', 'b'] }));
  const [bare, full] = [await cardOf('bare'), await cardOf('full')];
  assert.deepEqual([bare.display_name, bare.description, bare.tags], ['', '', []]);
  assert.deepEqual([full.display_name, full.description, full.tags], ['Full', 'All of it', ['a', 'b']]);
});

const PRICING_OF_MODALITY = {
  image: { mode: 'per_image', credits: { base: 1 } },
  video: { mode: 'per_second', credits: { per_second: 1 } },
  chat: { mode: 'per_token', credits: { input_per_k: 1, output_per_k: 2 } },
  audio: { mode: 'per_request', credits: { base: 1 } },
} as const;

const ENDPOINTS_OF_MODALITY: readonly (readonly [
  rules: string,
  modality: keyof typeof PRICING_OF_MODALITY,
  endpoints: readonly string[],
])[] = [
  ['R-142 R-145', 'image', ['images', 'image_edits']],
  ['R-142 R-145', 'video', ['videos']],
  ['R-142 R-145 R-154', 'chat', ['chat', 'native', 'embeddings']],
  ['R-142 R-145', 'audio', ['audio_speech', 'transcriptions', 'audio_music']],
];

for (const [rules, modality, endpoints] of ENDPOINTS_OF_MODALITY) {
  test(`${rules}: a card shows the modality ${modality} and its endpoints as the specification names them`, async () => {
    await sell(model('m', { modality, endpoints, pricing: PRICING_OF_MODALITY[modality] }));
    const card = await cardOf('m');
    assert.equal(card.modality, modality);
    assert.deepEqual(card.endpoints, endpoints);
  });
}

const OUTSIDE_THE_VOCABULARY: readonly (readonly [rule: string, field: string, fields: Fields])[] = [
  ['R-142', 'modality', { modality: 'text' }],
  ['R-142', 'modality', { modality: 'thumbnail' }],
  ['R-145', 'endpoints[1]', { endpoints: ['images', 'moderations'] }],
  ['R-145', 'endpoints[0]', { endpoints: ['chat'] }],
  ['R-145', 'endpoints', { endpoints: [] }],
  ['R-156', 'pricing.mode', { pricing: { mode: 'per_pixel', credits: { base: 1 } } }],
  ['R-157', 'pricing.currency', { pricing: { mode: 'per_image', currency: 'eur', credits: { base: 1 } } }],
  ['R-166', 'pricing.media_rates', { pricing: { mode: 'per_image', credits: { base: 1 }, media_rates: {} } }],
  ['R-170', 'pricing.credits.base', { pricing: { mode: 'per_image', credits: { base: -1 } } }],
];

for (const [rule, field, fields] of OUTSIDE_THE_VOCABULARY) {
  test(`${rule}: a model with ${JSON.stringify(fields)} cannot be sold`, async () => {
    await sell(model('sold'));
    const document = { upstreams: [sandbox('home')], models: [model('unsold', fields)] };
    const answer = await gateway.admin('PUT', '/config', document);
    assert.equal(answer.json.error.code, 'invalid_config');
    assert.ok(answer.json.error.message.includes(`models[0].${field} `), answer.json.error.message);
    assert.deepEqual(await idsFor(await gateway.newCaller()), ['sold']);
  });
}

const PRICINGS: readonly (readonly [rules: string, modality: string, endpoint: string, pricing: Fields])[] = [
  ['R-156 R-160 R-161', 'image', 'images', { mode: 'per_image', credits: { base: 40 }, size_ratio: { '1x1': 0.5 } }],
  ['R-156 R-160', 'image', 'images', { mode: 'per_request', credits: { base: 0.000000001 } }],
  [
    'R-156 R-158 R-160 R-161',
    'video',
    'videos',
    {
      mode: 'per_second',
      credits: { base: 5, per_second: 12.5 },
      quality_ratio: { high: 2 },
      resolution_ratio: { '720p': 1, '4k': 4.25 },
      flag_ratio: { generate_audio: 1.5, reference_video: 2 },
      per_second_usd: 0.1,
    },
  ],
  [
    'R-156 R-158 R-160 R-164',
    'chat',
    'chat',
    {
      mode: 'per_token',
      credits: { input_per_k: 2, output_per_k: 8, cached_per_k: 0.5, reasoning_per_k: 10 },
      token_tiers: [{ min_prompt_tokens: 128_000, input_per_k: 4, output_per_k: 0 }],
      input_usd: 3,
      output_usd: 15,
    },
  ],
  ['R-156 R-160', 'audio', 'audio_speech', { mode: 'per_k_char', credits: { base: 3 } }],
  ['R-156 R-160', 'audio', 'transcriptions', { mode: 'per_audio_second', credits: { per_second: 0.1 } }],
];

for (const [rules, modality, endpoint, pricing] of PRICINGS) {
  test(`${rules} R-157: a card shows the ${String(pricing.mode)} price of ${endpoint} to the digit, in usd`, async () => {
    await sell(model('priced', { modality, endpoints: [endpoint], pricing }));
    assert.deepEqual((await cardOf('priced')).pricing, { ...pricing, currency: 'usd' });
  });
}
