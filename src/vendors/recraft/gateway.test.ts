import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { dataUrl } from '../../../test/support/asked-forms.ts';
import { type BenchKind, JobBench, UNTOUCHED } from '../../../test/support/job-bench.ts';
import { picture } from '../../../test/support/media-samples.ts';
import { until } from '../../../test/support/postgres.ts';
import { IMAGE_PRICE, IMAGES, imageModel } from '../../../test/support/studio.ts';
import { upstreamHealth } from '../../../test/support/upstream-health.ts';
import { RecraftEmulator } from './emulator.ts';

const KEY = 'key-of-the-operator';
const PICTURE = await picture('png', { width: 64, height: 64 });

const drawing: BenchKind = {
  model: 'studio/drawing',
  path: IMAGES,
  upstreamModel: 'recraftv3',
  body: { prompt: 'a gate' },
  price: IMAGE_PRICE,
  written: imageModel,
};
const edit: BenchKind = {
  ...drawing,
  path: '/v1/images/edits',
  body: { prompt: 'a gate', image: dataUrl(PICTURE), mask: dataUrl(PICTURE) },
};

// The vendor in the whole program.
const bench = new JobBench({
  vendor: 'recraft',
  kinds: [drawing],
  emulator: () => new RecraftEmulator(KEY, PICTURE),
  upstream: { api_key: KEY },
});
before(() => bench.start());
after(() => bench.stop());
beforeEach(() => bench.begin());
afterEach(() => bench.finish());

const submitted = () => [bench.first.sent('POST').length, bench.second.sent('POST').length];

for (const [name, kind] of Object.entries({ drawing, edit })) {
  test(`a ${name} is copied before its link dies, fetched without the key, charged once, and its usage logged`, async () => {
    const job = await bench.made(kind);
    bench.first.areLinksDead = true;
    assert.deepEqual(await bench.delivered(job.id), [PICTURE]);
    const downloads = bench.first.sent('GET', /^\/files/);
    assert.ok(downloads.length > 0);
    for (const { headers } of downloads) assert.equal(headers.authorization, undefined);
    assert.deepEqual([submitted(), await bench.money()], [[1, 0], bench.paid(kind)]);
    assert.deepEqual(bench.usages, [['recraft-0', { credits: 40 }]]);
    assert.doesNotMatch(JSON.stringify(job), /recraft|127\.0\.0\.1:\d+\/files/);
    assert.ok(!bench.lines.join('').includes(KEY));
  });
}

test('many pictures are few calls, and those that do not come are not paid for', async () => {
  bench.first.missingPictures = 1;
  const job = await bench.made(drawing, { n: 10 });
  assert.deepEqual(
    bench.first.accepted.map(({ body }) => (body as { n: number }).n),
    [6, 4],
  );
  assert.equal((await bench.delivered(job.id)).length, 8);
  assert.deepEqual([submitted(), await bench.money()], [[2, 0], bench.paid(drawing, 8)]);
});

test('a field that the model does not take is refused before anything is held', async () => {
  const answer = await bench.ask(drawing, { background: 'transparent' });
  assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
  assert.deepEqual([submitted(), await bench.money()], [[0, 0], UNTOUCHED]);
});

test('another upstream draws when the account is out of money, told as a bad request: it rests for longer than one request', async () => {
  bench.first.isBroke = true;
  for (const _ of [1, 2]) await bench.made(drawing);
  assert.deepEqual([submitted(), await bench.money()], [[1, 2], bench.paid(drawing, 2)]);
  const { whole } = await upstreamHealth(bench.gateway, 'recraft-0');
  assert.equal(whole.state, 'open', JSON.stringify(whole));
});

test('another upstream draws when the account is throttled', async () => {
  bench.first.isBusy = true;
  await bench.made(drawing);
  assert.deepEqual([submitted(), await bench.money()], [[1, 1], bench.paid(drawing)]);
});

test('what breaks rules costs nothing and goes nowhere else', async () => {
  const job = await bench.ended(await bench.create(drawing, { prompt: bench.first.forbidden }));
  assert.deepEqual([job.status, job.error_code], ['failed', 'content_rejected'], JSON.stringify(job));
  assert.deepEqual([submitted(), await bench.money()], [[1, 0], UNTOUCHED]);
});

for (const fault of ['reset', 'garbage', 'empty'] as const) {
  test(`an answer that is lost after acceptance (${fault}) is not asked for twice, and costs nothing`, async () => {
    bench.first.script({ kind: 'fault', fault });
    const job = await bench.ended(await bench.create(drawing));
    assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
    assert.deepEqual([submitted(), await bench.money()], [[1, 0], UNTOUCHED]);
  });
}

test('a process that begins anew fetches what the last one was told of', async () => {
  bench.first.areLinksDown = true;
  const id = await bench.create(drawing);
  await until(() => bench.first.sent('GET', /^\/files/).length > 0);
  await bench.restart();
  bench.first.areLinksDown = false;
  assert.equal((await bench.ended(id)).status, 'succeeded');
  assert.deepEqual(await bench.delivered(id), [PICTURE]);
  assert.deepEqual([submitted(), await bench.money()], [[1, 0], bench.paid(drawing)]);
});

test('a picture whose call the last process got no answer to is given up, never asked for twice, and costs nothing', async () => {
  bench.first.script({ kind: 'fault', fault: 'silence' });
  const id = await bench.create(drawing);
  await until(() => bench.first.accepted.length === 1);
  await bench.restart();
  const job = await bench.ended(id);
  assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
  assert.deepEqual([submitted(), await bench.money()], [[1, 0], UNTOUCHED]);
});
