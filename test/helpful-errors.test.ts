import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { newApiKey } from '../src/accounts/api-key.ts';
import { ENDPOINT_PATHS } from '../src/catalogue/missing-model.ts';
import { imageModel, sandbox } from './support/documents.ts';
import { ADMIN_TOKEN, Gateway } from './support/gateway.ts';

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());
afterEach(() => gateway.assertBooksBalance());

const HOSTILE = [
  'x'.repeat(100_000),
  'a\r\nSet-Cookie: x',
  'a\0b',
  '\u001b[2J',
  'a\u202eb',
  '<script>alert(1)</script>',
  '"},"error":{"code":"ok"}',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  '💥'.repeat(200),
];

describe('a model that is not there', () => {
  before(() =>
    gateway.putConfig({
      upstreams: [sandbox('home'), sandbox('far', { groups: ['far'] })],
      models: [
        imageModel('studio/painter-1', ['home'], { endpoints: ['images', 'image_edits'] }),
        imageModel('studio/secret-1', ['far']),
      ],
    }),
  );

  async function refusal(key: string, path: string, body: object) {
    const { status, json } = await gateway.call('POST', path, { key, body });
    assert.deepEqual([status, json.error.code, json.error.param], [404, 'model_not_found', 'model']);
    return json.error.message as string;
  }

  const draw = (key: string, model: string) => refusal(key, '/v1/images/generations', { model, prompt: 'x' });

  test('R-065: a model that does not exist is named, and the list that has all of them', async () => {
    const { key } = await gateway.newCaller();
    const message = 'There is no model "nothing" for this key. GET /v1/models lists those that there are.';
    assert.equal(await draw(key, 'nothing'), message);
    const body = { endpoint: 'images', model: 'nothing', prompt: 'x' };
    assert.equal(await refusal(key, '/v1/estimate', body), message);
    const { json } = await gateway.call('GET', '/v1/models/nothing', { key });
    assert.deepEqual([json.error.message, json.error.param], [message, 'model']);
  });

  test('a name that clients choose by themselves is told with where to set another', async () => {
    const { key } = await gateway.newCaller();
    for (const id of ['claude-haiku-9', 'gpt-9-mini', 'gemini-9-flash-lite']) {
      const { json } = await gateway.call('GET', `/v1/models/${id}`, { key });
      assert.ok(json.error.message.startsWith(`There is no model "${id}" for this key. `), json.error.message);
      assert.match(json.error.message, / If your client chose this name by itself, set its model, and its small or /);
    }
  });

  test('a model that exists at other endpoints is told with where it does', async () => {
    const { key } = await gateway.newCaller();
    const messages = [{ role: 'user', content: 'x' }];
    const message = await refusal(key, '/v1/chat/completions', { model: 'studio/painter-1', messages });
    assert.equal(
      message,
      'The model "studio/painter-1" is not served at POST /v1/chat/completions. ' +
        'It is at POST /v1/images/generations and POST /v1/images/edits.',
    );
    const native = await gateway.call('POST', '/v1beta/models/studio%2Fpainter-1:generateContent', { key, raw: '{}' });
    assert.match(native.json.error.message, /is not served at POST \/v1beta\/models\/\{model\}:generateContent\./);
  });

  for (const [what, typed] of [
    ['two letters off', 'studio/paintre-2'],
    ['in capitals', 'Studio/Painter-1'],
    ['without its maker', 'painter-1'],
    ['with another maker', 'openmaker/painter-1'],
  ] as const) {
    test(`a name ${what} is told with the one that was meant`, async () => {
      const { key } = await gateway.newCaller();
      assert.equal(
        await draw(key, typed),
        `There is no model "${typed}" for this key. Did you mean "studio/painter-1"?`,
      );
    });
  }

  test('R-065: a model out of reach is told like one that does not exist, and is never what was meant', async () => {
    const [near, far] = [await gateway.newCaller(), await gateway.newCaller({ groups: ['far'] })];
    const message = await draw(near.key, 'studio/secret-1');
    assert.equal(message.replace('secret-1', 'nothing'), await draw(near.key, 'studio/nothing'));
    assert.doesNotMatch(await draw(near.key, 'studio/secret-2'), /Did you mean/);
    assert.match(await draw(far.key, 'studio/secret-2'), /Did you mean "studio\/secret-1"\?$/);
    const chat = { model: 'studio/secret-1', messages: [{ role: 'user', content: 'x' }] };
    assert.doesNotMatch(await refusal(near.key, '/v1/chat/completions', chat), /served at/);
  });

  test('R-034, R-035: whatever stands for a model is cut, escaped and no credential', async () => {
    const { key } = await gateway.newCaller({ key: { rpm: 1000 } });
    for (const model of [...HOSTILE, key, newApiKey(), `x ${key}`]) {
      const message = await draw(key, model);
      assert.ok(message.length < 300, message);
      assert.doesNotMatch(message, /[\p{C}]/u);
      assert.ok(!message.includes(key.slice(7, 20)));
    }
  });

  test('the paths that a refusal names are routes', async () => {
    const { json } = await gateway.call('GET', '/openapi.json');
    for (const path of Object.values(ENDPOINT_PATHS)) {
      assert.ok(json.paths[path.replace(':generateContent', ':{action}')]?.post !== undefined, path);
    }
  });
});

describe('a route that is not there', () => {
  async function told(method: string, path: string, key?: string): Promise<string> {
    const { status, json } = await gateway.call(method, path, key === undefined ? {} : { key });
    assert.deepEqual([status, json.error.code, json.error.param], [404, 'not_found', null]);
    return json.error.message;
  }

  for (const [what, method, path, meant] of [
    ['no version', 'GET', '/models', 'Did you mean GET /v1/models? The base URL of this client is {origin}/v1.'],
    [
      'no version',
      'POST',
      '/chat/completions',
      'Did you mean POST /v1/chat/completions? The base URL of this client is {origin}/v1.',
    ],
    [
      'two versions',
      'POST',
      '/v1/v1/chat/completions',
      'Did you mean POST /v1/chat/completions? This client writes /v1 itself: its base URL is {origin}.',
    ],
    ['a word before the version', 'GET', '/api/v1/models', 'Did you mean GET /v1/models?'],
    ['a slash at the end', 'GET', '/v1/key/', 'Did you mean GET /v1/key?'],
    ['two slashes', 'POST', '/v1//videos', 'Did you mean POST /v1/videos?'],
    ['a singular', 'POST', '/v1/video', 'Did you mean POST /v1/videos?'],
    ['a singular', 'POST', '/v1/chat/completion', 'Did you mean POST /v1/chat/completions?'],
    ['a singular', 'GET', '/v1/job/job_1/asset', 'Did you mean GET /v1/jobs/{job_id}/assets?'],
    ['a plural', 'GET', '/v1/keys', 'Did you mean GET /v1/key?'],
    ['a plural', 'POST', '/v1/audios/speech', 'Did you mean POST /v1/audio/speech?'],
    ['capitals', 'GET', '/V1/Models', 'Did you mean GET /v1/models?'],
    ['a slip', 'POST', '/v1/audio/transcriptoins', 'Did you mean POST /v1/audio/transcriptions?'],
    ['half of a path', 'POST', '/v1/chat', 'Did you mean POST /v1/chat/completions?'],
    ['another method', 'GET', '/v1/chat/completions', 'This path takes POST.'],
    ['another method', 'POST', '/v1/models', 'This path takes GET.'],
    ['another method', 'PUT', '/v1/videos', 'This path takes POST.'],
    [
      'another method and no version',
      'GET',
      '/chat/completions',
      'Did you mean POST /v1/chat/completions? The base URL of this client is {origin}/v1.',
    ],
    ['a rest', 'GET', '/models/a/b/c', 'Did you mean GET /v1/models/{model_id}?'],
    [
      'a version before the native one',
      'POST',
      '/v1/v1beta/models/x:y',
      'Did you mean POST /v1beta/models/{model}:{action}?',
    ],
  ] as const) {
    test(`R-070: ${method} ${path}, with ${what}, is told with the route that was meant`, async () => {
      const hint = meant.replace('{origin}', gateway.config.publicUrl);
      assert.equal(await told(method, path), `There is nothing at ${method} "${path}". ${hint}`);
    });
  }

  for (const [method, path] of [
    ['GET', '/nothing-here'],
    ['GET', '/v1'],
    ['POST', '/v1/jobs/job_1/cancel'],
    ['DELETE', '/v1/jobs/job_1'],
    ['GET', '/v1beta/models/x:generateContent'],
    ['GET', `/v1/${'chat/'.repeat(1_000)}`],
  ] as const) {
    test(`R-015: ${method} ${path.slice(0, 40)} is told without a hint`, async () => {
      assert.match(await told(method, path), /^There is nothing at (GET|POST|DELETE) "[^"]{1,82}"\.$/);
    });
  }

  test('R-111: what stands behind the question mark is not told', async () => {
    assert.equal(await told('GET', '/nothing?key=secret'), 'There is nothing at GET "/nothing".');
  });

  test('a route of the operator is told to others like one that is not there, and is never what was meant', async () => {
    const { key } = await gateway.newCaller();
    for (const [method, path] of [
      ['GET', '/api/admin/accounts'],
      ['GET', '/api/admin/acounts'],
      ['GET', '/api/admin/config/'],
      ['POST', '/api/admin/books'],
    ] as const) {
      assert.equal(await told(method, path, key), `There is nothing at ${method} "${path}".`);
    }
    for (const path of ['/admin/accounts', '/v1/accounts', '/v1/api/admin/books', '/accounts', '/v1/upstreams']) {
      assert.doesNotMatch(await told('GET', path, ADMIN_TOKEN), /Did you mean.*admin/);
    }
  });

  test('R-034, R-035: whatever stands in a path is cut, escaped and no credential', async () => {
    const { key } = await gateway.newCaller();
    for (const text of [...HOSTILE.filter((each) => each.length < 10_000), key, 'x'.repeat(10_000)]) {
      const message = await told('GET', `/nothing/${encodeURIComponent(text)}`);
      assert.ok(message.length < 300, message);
      assert.doesNotMatch(message, /[\p{C}]/u);
      assert.ok(!message.includes(key.slice(7, 20)));
    }
  });
});
