import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { facadePathOf } from '../src/http/contract/facade.ts';
import { SCOPE_WORDS, SCOPES, type Scope } from '../src/scopes.ts';
import { type Answer, Gateway } from './support/gateway.ts';
import { type AppGrant, Apps } from './support/tokens.ts';

// One account, and for every set of scopes a grant of its own.

let gateway: Gateway;
let apps: Apps;
let grant: AppGrant;
before(async () => {
  gateway = await Gateway.start({ settings: { TOLLGATE_TOKEN_RPM: '100000' } });
  apps = await Apps.open(gateway);
  const account = await gateway.admin('POST', '/accounts', { name: 'Test' });
  await gateway.admin('POST', `/accounts/${account.json.id}/grants`, { credits: 1000 });
  grant = await apps.grant(account.json.id);
});
after(async () => {
  await apps.close();
  await gateway.stop();
});

/** What each route needs of a token. A route that is not here fails the first test. */
const NEEDED: Record<string, Scope | 'any' | 'none'> = {
  'GET /v1/models': 'any',
  'GET /v1/models/{model_id}': 'any',
  'POST /v1/estimate': 'any',
  'POST /v1/chat/completions': 'user:inference:chat',
  'POST /v1/responses': 'user:inference:chat',
  'POST /v1/messages': 'user:inference:chat',
  'POST /v1/messages/count_tokens': 'user:inference:chat',
  'POST /v1/embeddings': 'user:inference:chat',
  'POST /v1/images/generations': 'user:inference:image',
  'POST /v1/images/edits': 'user:inference:image',
  'POST /v1/videos': 'user:inference:video',
  'POST /v1/audio/music': 'user:inference:audio',
  'POST /v1/audio/speech': 'user:inference:audio',
  'POST /v1/audio/transcriptions': 'user:inference:audio',
  'GET /v1/audio/transcriptions/{request_id}': 'user:jobs',
  'GET /v1/jobs': 'user:jobs',
  'GET /v1/jobs/{job_id}': 'user:jobs',
  'GET /v1/videos/{job_id}': 'user:jobs',
  'GET /v1/audio/music/{job_id}': 'user:jobs',
  'GET /v1/jobs/{job_id}/assets': 'user:jobs',
  'GET /v1/jobs/{job_id}/content': 'user:jobs',
  'GET /v1/videos/{job_id}/content': 'user:jobs',
  'GET /v1/audio/music/{job_id}/content': 'user:jobs',
  'POST /v1/files': 'user:files',
  'GET /v1/credits': 'user:credits',
  'GET /v1/credits/grants': 'user:credits',
  'GET /v1/credits/transactions': 'user:credits',
  'GET /v1/usage': 'user:credits',
  'GET /v1/requests/{request_id}': 'user:credits',
  'GET /v1/key': 'none',
  'POST /v1beta/models/{model}:{action}': 'none',
  'POST /v1/models/{model}:{action}': 'none',
  'POST /openai/v1/images/generations': 'user:inference:image',
  'POST /openai/v1/images/edits': 'user:inference:image',
  'POST /openai/v1/videos': 'user:inference:video',
  'GET /openai/v1/videos': 'user:jobs',
  'GET /openai/v1/videos/{job_id}': 'user:jobs',
  'GET /openai/v1/videos/{job_id}/content': 'user:jobs',
  'DELETE /openai/v1/videos/{job_id}': 'user:inference:video',
  'POST /openai/v1/audio/transcriptions': 'user:inference:audio',
  'POST /openai/v1/audio/translations': 'user:inference:audio',
  'POST /openai/v1/files': 'user:files',
  'GET /openai/v1/files': 'none',
  'GET /openai/v1/files/{file_id}': 'none',
  'GET /openai/v1/files/{file_id}/content': 'none',
  'DELETE /openai/v1/files/{file_id}': 'none',
  'POST /mcp': 'any',
};
// The facade asks the same of a token as the route that it serves as it is.
for (const [route, needed] of Object.entries(NEEDED)) {
  const [method, path = ''] = route.split(' ');
  const same = facadePathOf(path);
  if (same !== undefined) NEEDED[`${method} ${same}`] = needed;
}

interface Published {
  readonly security: readonly Record<string, readonly string[]>[];
}

/** Every operation that a key opens, by method and path. */
async function operations(): Promise<Record<string, Published>> {
  const { json } = await gateway.call('GET', '/openapi.json');
  const paths: Record<string, Record<string, Published>> = json.paths;
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
  );
  return Object.fromEntries(all.filter(([, { security }]) => security.some((way) => 'key' in way)));
}

function call(route: string, token: string): Promise<Answer> {
  const [method = '', path = ''] = route.split(' ');
  return gateway.call(method, path.replace(/\{\w+\}/g, 'none'), { key: token });
}

function assertLacks(answer: Answer, scope: string): void {
  assert.deepEqual([answer.status, answer.json?.error.code], [403, 'insufficient_scope'], answer.text);
  assert.equal(answer.headers['www-authenticate'], `Bearer error="insufficient_scope", scope="${scope}"`);
  assert.equal(answer.json.error.message, `The access token lacks the scope "${scope}".`);
}

test('R-122, R-123: every route says in the contract what it needs of a token', async () => {
  const published = await operations();
  assert.deepEqual(Object.keys(published).sort(), Object.keys(NEEDED).sort());
  for (const [route, needed] of Object.entries(NEEDED)) {
    const oauth = needed === 'any' ? [] : [needed];
    const expected = needed === 'none' ? [{ key: [] }] : [{ key: [] }, { oauth }];
    assert.deepEqual(published[route]?.security, expected, route);
  }
});

test('the contract names the authorization server and every scope in plain words', async () => {
  const { json } = await gateway.call('GET', '/openapi.json');
  const { type, flows } = json.components.securitySchemes.oauth;
  assert.equal(type, 'oauth2');
  const { publicUrl } = gateway.config;
  assert.deepEqual(flows, {
    authorizationCode: {
      authorizationUrl: `${publicUrl}/oauth/authorize`,
      tokenUrl: `${publicUrl}/oauth/token`,
      refreshUrl: `${publicUrl}/oauth/token`,
      scopes: SCOPE_WORDS,
    },
  });
});

for (const [route, needed] of Object.entries(NEEDED)) {
  if (needed === 'any') {
    test(`R-122: ${route} opens to any valid token`, async () => {
      for (const scope of SCOPES) {
        assert.ok(
          ![401, 403].includes((await call(route, await apps.token(grant, { scopes: [scope] }))).status),
          scope,
        );
      }
    });
  } else if (needed === 'none') {
    test(`R-124: ${route} opens to no token`, async () => {
      const answer = await call(route, await apps.token(grant));
      assert.deepEqual([answer.status, answer.json?.error.code], [403, 'insufficient_scope'], answer.text);
    });
  } else {
    test(`R-041, R-059, R-115, R-123: ${route} needs ${needed} and nothing else`, async () => {
      const others = SCOPES.filter((scope) => scope !== needed);
      assertLacks(await call(route, await apps.token(grant, { scopes: others })), needed);
      const answer = await call(route, await apps.token(grant, { scopes: [needed] }));
      assert.ok(![401, 403].includes(answer.status), answer.text);
    });
  }
}

test('R-116, R-117: saved transcriptions are read with user:jobs, and not with user:inference:audio alone', async () => {
  const path = '/v1/audio/transcriptions';
  const body = { model: 'sandbox/transcribe', audio_url: 'https://example.com/clip.wav' };
  const audio = await apps.token(grant, { scopes: ['user:inference:audio'] });
  const made = await gateway.call('POST', path, { key: audio, body });
  assert.notEqual(made.status, 403, made.text);
  assertLacks(await gateway.call('GET', `${path}/none`, { key: audio }), 'user:jobs');
  const jobs = await apps.token(grant, { scopes: ['user:jobs'] });
  assert.equal((await gateway.call('GET', `${path}/none`, { key: jobs })).status, 404);
  assertLacks(await gateway.call('POST', path, { key: jobs, body }), 'user:inference:audio');
});

test('a token never has more than its grant still has, nor a scope that is none', async () => {
  const narrow = await apps.grant(grant.accountId, { scopes: ['user:credits'] });
  const token = await apps.token(narrow, { scopes: ['user:credits', 'user:jobs', 'openid'] });
  assert.equal((await gateway.call('GET', '/v1/credits', { key: token })).status, 200);
  assertLacks(await gateway.call('GET', '/v1/jobs', { key: token }), 'user:jobs');
  const nothing = await apps.token(narrow, { scopes: ['openid'] });
  assert.equal((await gateway.call('GET', '/v1/models', { key: nothing })).status, 200);
  assertLacks(await gateway.call('GET', '/v1/credits', { key: nothing }), 'user:credits');
});

test('R-044: a missing scope is told before the rate, and takes nothing from the bucket', async () => {
  const account = await gateway.admin('POST', '/accounts', { name: 'Slow' });
  await gateway.admin('PATCH', `/accounts/${account.json.id}`, { limits: { rpm: 1 } });
  const own = await apps.grant(account.json.id);
  const jobs = await apps.token(own, { scopes: ['user:jobs'] });
  for (let count = 0; count < 3; count++) {
    assertLacks(await gateway.call('GET', '/v1/credits', { key: jobs }), 'user:credits');
  }
  assert.equal((await gateway.call('GET', '/v1/jobs', { key: jobs })).status, 200);
  assert.equal((await gateway.call('GET', '/v1/jobs', { key: jobs })).json.error.code, 'rate_limited');
  assertLacks(await gateway.call('GET', '/v1/credits', { key: jobs }), 'user:credits');
});
