import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { createDatabase } from './support/database.ts';
import { type Fields, imageModel, sandbox } from './support/documents.ts';
import { type Answer, type CallOptions, Gateway } from './support/gateway.ts';
import { takeAway } from './support/outage.ts';
import { until } from './support/postgres.ts';

const PATH = '/api/hub/public/models';
const PER_MINUTE = 60;

let gateway: Gateway;

before(async () => {
  gateway = await Gateway.start();
});
// Every test has the whole minute's requests of this machine to itself.
beforeEach(() => gateway.clock.advance(60));
afterEach(() => gateway.assertBooksBalance());
after(() => gateway.stop());

function ask(options: CallOptions = {}, at: Gateway = gateway): Promise<Answer> {
  return at.call('GET', PATH, options);
}

async function list(at: Gateway = gateway): Promise<Answer> {
  const answer = await ask({}, at);
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

function namesIn(answer: Answer): string[] {
  return answer.json.data.map((entry: { name: string }) => entry.name);
}

function documentWith(...models: Fields[]) {
  return { upstreams: [sandbox('home')], models };
}

async function sell(...models: Fields[]): Promise<void> {
  await gateway.putConfig(documentWith(...models));
}

function model(name: string, fields: Fields = {}): Fields {
  return imageModel(name, ['home'], fields);
}

function priced(name: string, base: number): Fields {
  return model(name, { pricing: { mode: 'per_image', credits: { base } } });
}

/** How many of a few more than the minute's requests are answered. */
async function answered(options: (index: number) => CallOptions, at: Gateway = gateway): Promise<number> {
  let count = 0;
  for (let index = 0; index < PER_MINUTE + 3; index++) {
    const { status } = await ask(options(index), at);
    assert.ok(status === 200 || status === 429, String(status));
    if (status === 200) count++;
  }
  return count;
}

test('R-171: the list needs no credential and asks after none', async () => {
  await sell(model('open'));
  for (const options of [{}, { key: 'sk-tg1-nonsense' }, { headers: { 'x-api-key': 'x' } }]) {
    assert.deepEqual(namesIn(await ask(options)), ['open']);
  }
});

const video = { modality: 'video', endpoints: ['videos'], pricing: { mode: 'per_second', credits: { per_second: 1 } } };

test('R-172 R-173: the envelope counts its entries, in all and by modality', async () => {
  const now = Math.floor(gateway.clock.nowMs() / 1000);
  await sell(model('a'), model('b/c'), model('clip', video));
  const { json } = await list();
  assert.deepEqual(Object.keys(json), ['object', 'count', 'modalities', 'updated_at', 'data']);
  assert.deepEqual(
    { ...json, data: json.data.length },
    { object: 'list', count: 3, modalities: { image: 2, video: 1 }, updated_at: now, data: 3 },
  );
});

test('R-172 R-173: a list of nothing counts nothing', async () => {
  await sell();
  const { json } = await list();
  assert.deepEqual([json.count, json.modalities, json.data], [0, {}, []]);
});

test('R-174 R-175: an entry has a name and no id, and the price of the card with its unit', async () => {
  await sell(model('ns/entry', { endpoints: ['images', 'image_edits'], description: 'Not shown here' }));
  const { key } = await gateway.newCaller();
  const card = (await gateway.call('GET', '/v1/models/ns/entry', { key })).json;
  assert.deepEqual((await list()).json.data, [
    {
      name: 'ns/entry',
      modality: 'image',
      endpoints: ['images', 'image_edits'],
      pricing: { ...card.pricing, unit: 'image' },
    },
  ]);
});

const UNITS: readonly (readonly [mode: string, credits: Fields, kind: readonly [string, string], unit: RegExp])[] = [
  ['per_image', { base: 1 }, ['image', 'images'], /^image$/],
  ['per_request', { base: 1 }, ['image', 'images'], /^request$/],
  ['per_second', { per_second: 1 }, ['video', 'videos'], /^second/],
  ['per_token', { input_per_k: 1, output_per_k: 1 }, ['chat', 'chat'], /^thousand tokens$/],
  ['per_k_char', { base: 1 }, ['audio', 'audio_speech'], /^thousand characters$/],
  ['per_audio_second', { per_second: 1 }, ['audio', 'transcriptions'], /^second of audio$/],
];

for (const [mode, credits, [modality, endpoint], unit] of UNITS) {
  test(`R-175: the unit of ${mode} says what its headline number is charged per`, async () => {
    await sell(model('m', { modality, endpoints: [endpoint], pricing: { mode, credits } }));
    assert.match((await list()).json.data[0].pricing.unit, unit);
  });
}

test('R-176: only models that the default group reaches are listed', async () => {
  await gateway.putConfig({
    upstreams: [
      sandbox('home'),
      sandbox('gold', { groups: ['gold'] }),
      sandbox('off', { groups: ['default'], enabled: false }),
    ],
    models: [
      imageModel('listed', ['gold', 'home']),
      imageModel('of-another-group', ['gold']),
      imageModel('of-another-group-at-the-moment', ['gold', 'off']),
    ],
  });
  assert.deepEqual(namesIn(await list()), ['listed']);
});

test('R-177: the tag of a list, sent back, answers 304 with no body and the same tag', async () => {
  await sell(model('tagged'));
  const first = await list();
  const second = await ask({ headers: { 'if-none-match': String(first.headers.etag) } });
  assert.equal(second.status, 304);
  assert.equal(second.text, '');
  assert.equal(second.headers.etag, first.headers.etag);
});

test('R-177: a tag of an earlier content answers the new list', async () => {
  await sell(model('earlier'));
  const { etag } = (await list()).headers;
  await sell(model('later'));
  const answer = await ask({ headers: { 'if-none-match': String(etag) } });
  assert.deepEqual(namesIn(answer), ['later']);
  assert.notEqual(answer.headers.etag, etag);
});

const CONDITIONS: readonly (readonly [told: string, condition: (opaque: string) => string, status: number])[] = [
  ['a weak tag', (opaque) => `W/${opaque}`, 304],
  ['a strong tag', (opaque) => opaque, 304],
  ['any tag at all', () => '*', 304],
  ['a list with the tag last', (opaque) => `"x", W/"y" ,W/${opaque}`, 304],
  ['a list with the tag first', (opaque) => `${opaque},"x"`, 304],
  ['another tag', () => 'W/"x"', 200],
  ['a list of other tags', () => '"x", W/"y"', 200],
  ['the tag without its quotes', (opaque) => opaque.replaceAll('"', ''), 200],
  ['the tag in capitals', (opaque) => opaque.toUpperCase(), 200],
  ['a part of the tag', (opaque) => `${opaque.slice(0, 10)}"`, 200],
  ['nothing', () => '', 200],
];

for (const [told, condition, status] of CONDITIONS) {
  test(`R-178: If-None-Match with ${told} answers ${status}`, async () => {
    await sell(model('conditional'));
    const opaque = String((await list()).headers.etag).replace(/^W\//, '');
    const answer = await ask({ headers: { 'if-none-match': condition(opaque) } });
    assert.equal(answer.status, status);
    assert.equal(answer.text === '', status === 304);
  });
}

test('R-178: caches are told the same on 200 and on 304', async () => {
  await sell(model('cached'));
  const answers = [await list(), await ask({ headers: { 'if-none-match': '*' } })];
  for (const { headers } of answers) {
    assert.equal(headers['cache-control'], 'public, max-age=60');
    assert.equal(headers.vary, 'accept-encoding');
    assert.equal(headers['access-control-allow-origin'], '*');
  }
});

test('R-177: one tag stands for every encoding of the list', async () => {
  await sell(model('encoded', { tags: ['a'] }));
  const plain = await list();
  for (const encoding of ['gzip', 'br', 'identity']) {
    const response = await fetch(gateway.url + PATH, { headers: { 'accept-encoding': encoding } });
    assert.equal(response.headers.get('content-encoding') ?? 'identity', encoding);
    assert.equal(response.headers.get('etag'), plain.headers.etag);
    assert.equal(await response.text(), plain.text);
  }
});

test('R-177: HEAD answers as GET does, without a body', async () => {
  await sell(model('headed'));
  const { headers } = await list();
  const head = await gateway.call('HEAD', PATH);
  assert.deepEqual([head.status, head.text, head.headers.etag], [200, '', headers.etag]);
  const unchanged = await gateway.call('HEAD', PATH, { headers: { 'if-none-match': String(headers.etag) } });
  assert.equal(unchanged.status, 304);
});

test('R-179: the list is answered with the database gone, byte by byte as before', async () => {
  await sell(model('kept'));
  const before = await list();
  const giveBack = await takeAway(gateway.database);
  try {
    await until(async () => (await gateway.call('GET', '/healthz')).json.db === 'unavailable');
    const without = await list();
    assert.equal(without.text, before.text);
    assert.equal(without.headers.etag, before.headers.etag);
    assert.equal((await ask({ headers: { 'if-none-match': '*' } })).status, 304);
  } finally {
    await giveBack();
  }
});

test('R-180: sixty requests a minute are answered and the next is refused until the minute has passed', async () => {
  await sell(model('limited'));
  assert.equal(await answered(() => ({})), PER_MINUTE);
  const refused = await ask();
  assert.equal(refused.status, 429);
  assert.equal(refused.json.error.code, 'rate_limited');
  assert.equal(refused.headers['retry-after'], '60');
  gateway.clock.advance(60);
  assert.equal(await answered(() => ({})), PER_MINUTE);
});

test('R-180: answers without a body and HEAD count as well', async () => {
  await sell(model('limited'));
  for (let count = 0; count < PER_MINUTE; count += 2) {
    assert.equal((await ask({ headers: { 'if-none-match': '*' } })).status, 304);
    assert.equal((await gateway.call('HEAD', PATH)).status, 200);
  }
  assert.equal((await ask({ headers: { 'if-none-match': '*' } })).status, 429);
});

test('R-180: a credential changes nothing about the limit, and the limit nothing about other routes', async () => {
  const { key } = await gateway.newCaller();
  assert.equal(await answered(() => ({ key })), PER_MINUTE);
  assert.equal((await gateway.call('GET', '/v1/models', { key })).status, 200);
});

async function withProxies(proxies: string, work: (gateway: Gateway) => Promise<void>): Promise<void> {
  const behind = await Gateway.start({ settings: { TOLLGATE_TRUSTED_PROXIES: proxies } });
  try {
    await work(behind);
  } finally {
    await behind.stop();
  }
}

function forwarded(chain: string): CallOptions {
  return { headers: { 'x-forwarded-for': chain } };
}

test('R-181: without trusted proxies X-Forwarded-For is not read', async () => {
  assert.equal(await answered((index) => forwarded(`203.0.113.${index}`)), PER_MINUTE);
});

test('R-181: a caller that is no trusted proxy cannot name its own address', async () => {
  await withProxies('10.0.0.0/8, 2001:db8::/32', async (behind) => {
    assert.equal(await answered((index) => forwarded(`203.0.113.${index}`), behind), PER_MINUTE);
  });
});

test('R-181: behind a trusted proxy each client has its own minute, by the last address in the chain', async () => {
  await withProxies('127.0.0.1', async (behind) => {
    assert.equal(await answered((index) => forwarded(`198.51.100.${index}, 203.0.113.1`), behind), PER_MINUTE);
    assert.equal((await ask(forwarded('203.0.113.1'), behind)).status, 429);
    assert.equal((await ask(forwarded('203.0.113.1, 203.0.113.2'), behind)).status, 200);
    assert.equal((await ask(forwarded('2001:db8::1'), behind)).status, 200);
  });
});

test('R-181: the chain is read from the right, past every trusted proxy and no further', async () => {
  await withProxies('127.0.0.0/8,10.0.0.0/8', async (behind) => {
    const chain = (index: number) => forwarded(`198.51.100.${index},203.0.113.1, 10.0.0.${index} ,10.1.2.3`);
    assert.equal(await answered(chain, behind), PER_MINUTE);
    assert.equal((await ask(forwarded('203.0.113.1'), behind)).status, 429);
    assert.equal((await ask(forwarded('10.0.0.1, 203.0.113.1'), behind)).status, 429);
  });
});

const NO_ADDRESSES = ['unknown', '', ' ', '203.0.113', '203.0.113.999', '<script>', '203.0.113.1, '];

test('R-181: what is no address in the chain counts for the proxy that passed it on', async () => {
  await withProxies('127.0.0.1', async (behind) => {
    const junk = (index: number) => forwarded(NO_ADDRESSES[index % NO_ADDRESSES.length] ?? '');
    assert.equal(await answered(junk, behind), PER_MINUTE);
    assert.equal((await ask({}, behind)).status, 429);
  });
});

const SAME_CONTENT: readonly (readonly [told: string, change: (gateway: Gateway) => Promise<unknown>])[] = [
  ['a description that the list does not show', (at) => at.putConfig(documentWith(model('m', { tags: ['new'] })))],
  [
    'an upstream of another group',
    (at) =>
      at.putConfig({ ...documentWith(model('m')), upstreams: [sandbox('home'), sandbox('x', { groups: ['g'] })] }),
  ],
  [
    'the upstream’s weight',
    (at) => at.putConfig({ ...documentWith(model('m')), upstreams: [sandbox('home', { weight: 9 })] }),
  ],
  ['nothing at all', (at) => at.putConfig(documentWith(model('m')))],
];

for (const [told, change] of SAME_CONTENT) {
  test(`R-182: a change of ${told} leaves tag and time as they were`, async () => {
    await sell(model('m'));
    const earlier = await list();
    gateway.clock.advance(60);
    await change(gateway);
    const later = await list();
    assert.equal(later.text, earlier.text);
    assert.equal(later.headers.etag, earlier.headers.etag);
  });
}

const OTHER_CONTENT: readonly (readonly [told: string, model: Fields])[] = [
  ['price', priced('m', 41)],
  ['reference price', model('m', { pricing: { mode: 'per_image', credits: { base: 40 }, per_image_usd: 1 } })],
  ['name', model('renamed')],
  ['list of endpoints', model('m', { endpoints: ['image_edits'] })],
];

for (const [told, changed] of OTHER_CONTENT) {
  test(`R-182: another ${told} changes the tag and moves the time to the change`, async () => {
    await sell(model('m'));
    const earlier = await list();
    gateway.clock.advance(90);
    await sell(changed);
    const later = await list();
    assert.notEqual(later.headers.etag, earlier.headers.etag);
    assert.equal(later.json.updated_at, Math.floor(gateway.clock.nowMs() / 1000));
  });
}

test('R-182: every process shows a change, with the same bytes and tag', async () => {
  const second = await Gateway.start({ database: gateway.database, clock: gateway.clock });
  try {
    for (const base of [1, 2, 3]) {
      gateway.clock.advance(60);
      await (base % 2 === 0 ? second : gateway).putConfig(documentWith(priced('shared', base)));
      const [here, there] = [await list(), await list(second)];
      assert.equal(here.json.data[0].pricing.credits.base, base);
      assert.equal(there.text, here.text);
      assert.equal(there.headers.etag, here.headers.etag);
    }
  } finally {
    await second.stop();
  }
});

test('R-182: a restart changes neither tag nor time', async () => {
  const database = await createDatabase();
  try {
    const first = await Gateway.start({ database, clock: gateway.clock });
    const earlier = await list(first);
    await first.stop();
    gateway.clock.advance(3600);
    const second = await Gateway.start({ database, clock: gateway.clock });
    const later = await list(second);
    await second.stop();
    assert.equal(later.text, earlier.text);
    assert.equal(later.headers.etag, earlier.headers.etag);
  } finally {
    await database.drop();
  }
});
