import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { request } from 'undici';
import { MCP_BODY_BYTES_MAX, MCP_JOIN_MS, MCP_SILENT_WAIT_SECONDS } from '../src/limits.ts';
import type { Scope } from '../src/scopes.ts';
import type { Answer, CallOptions, NewCaller } from './support/gateway.ts';
import {
  CLIENTS,
  type ClientName,
  connect,
  jobIn,
  type McpClient,
  type Progress,
  refusal,
  succeeded,
  textOf,
} from './support/mcp-clients.ts';
import { moneyOf, paidCaller, spentInTheEnd } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';
import { IMAGE_PRICE, Studio } from './support/studio.ts';
import { Apps } from './support/tokens.ts';

const studio = new Studio();
let apps: Apps;
before(async () => {
  const settings = { TOLLGATE_CORS_ORIGINS: 'https://pages.example', TOLLGATE_TOKEN_RPM: '10000' };
  await studio.start({ settings });
  apps = await Apps.open(studio.gateway);
});
after(async () => {
  await apps.close();
  await studio.stop();
});
afterEach(() => studio.gateway.assertBooksBalance());

const SLOW = { model: 'studio/queue', prompt: 'a gate' };
const QUICK = { model: 'studio/direct', prompt: 'a gate' };

function clientOf(name: ClientName, key: string): Promise<McpClient> {
  return connect(name, studio.gateway.url, { authorization: `Bearer ${key}` });
}

function post(options: CallOptions): Promise<Answer> {
  return studio.gateway.call('POST', '/mcp', options);
}

const calling = (name: string, args: object = {}) => ({
  body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
});

async function jobsOf({ key }: NewCaller): Promise<Answer['json'][]> {
  return (await studio.gateway.call('GET', '/v1/jobs', { key })).json.data;
}

for (const name of CLIENTS) {
  describe(`with the official client ${name}`, () => {
    test('a job that takes long is answered by its id before a silent client gives up, and is found again', async () => {
      const caller = await paidCaller(studio.gateway);
      await using client = await clientOf(name, caller.key);
      const known = studio.queue.tasks.length;
      const begunMs = studio.gateway.clock.nowMs();
      const answer = succeeded(await studio.whileTimePasses(client.call('generate_image', SLOW), 0.5));
      assert.match(textOf(answer), /^job_\w+ is (queued|running), \d+ % done\. Call get_job/);
      assert.ok(studio.gateway.clock.nowMs() - begunMs >= 1000 * MCP_SILENT_WAIT_SECONDS);
      const job_id = jobIn(textOf(answer));
      assert.equal(answer.structuredContent.job_id, job_id);
      (await studio.nextTask(known)).advance('COMPLETED');
      const found = succeeded(await studio.whileTimePasses(client.call('get_job', { job_id, wait: true })));
      assert.equal(found.structuredContent.status, 'succeeded');
      assert.equal(found.content[1].type, 'image');
      assert.equal(await spentInTheEnd(studio.gateway, caller), IMAGE_PRICE);
    });

    test('a client that asks for progress hears it rise, and waits on', async () => {
      const caller = await paidCaller(studio.gateway);
      await using client = await clientOf(name, caller.key);
      const known = studio.queue.tasks.length;
      const heard: Progress[] = [];
      const work = client.call('generate_image', SLOW, { onprogress: (progress) => heard.push(progress) });
      const task = await studio.nextTask(known);
      const longer = 2 * MCP_SILENT_WAIT_SECONDS;
      const end = studio.gateway.clock.nowMs() + 1000 * longer;
      await until(() => {
        studio.gateway.clock.advance(0.5);
        return studio.gateway.clock.nowMs() > end && heard.length > 5;
      });
      task.advance('COMPLETED');
      const answer = succeeded(await studio.whileTimePasses(work));
      assert.match(textOf(answer), /succeeded with studio\/queue for 40 credits/);
      assert.ok(heard.every(({ message = '' }) => message.startsWith(jobIn(textOf(answer)))));
      for (const [place, { progress }] of heard.entries()) assert.ok(progress > (heard[place - 1]?.progress ?? -1));
    });

    test('a caller that leaves leaves the job running, and its repeated call joins it', async () => {
      const caller = await paidCaller(studio.gateway);
      await using client = await clientOf(name, caller.key);
      const known = studio.queue.tasks.length;
      const leaving = new AbortController();
      const left = client.call('generate_image', SLOW, { signal: leaving.signal });
      const task = await studio.nextTask(known);
      leaving.abort();
      await assert.rejects(left);
      const again = client.call('generate_image', { prompt: SLOW.prompt, model: SLOW.model });
      task.advance('COMPLETED');
      const answer = succeeded(await studio.whileTimePasses(again));
      assert.match(textOf(answer), /It was made by an equal call, and is charged once\./);
      const jobs = await jobsOf(caller);
      assert.deepEqual([jobs.length, jobs[0].id, jobs[0].status], [1, jobIn(textOf(answer)), 'succeeded']);
      assert.equal(await spentInTheEnd(studio.gateway, caller), IMAGE_PRICE);
    });

    test('a job that fails is a result that says why, and costs nothing', async () => {
      const caller = await paidCaller(studio.gateway);
      await using client = await clientOf(name, caller.key);
      studio.direct.script({ kind: 'error', error: 'policy' });
      assert.match(
        refusal(await client.call('generate_image', QUICK)),
        /^job_\w+ failed and cost nothing\. .*content_rejected.* Change the prompt\./,
      );
      assert.equal(await spentInTheEnd(studio.gateway, caller), 0);
    });

    test('a call that is malformed is an error of the protocol', async () => {
      const caller = await paidCaller(studio.gateway);
      await using client = await clientOf(name, caller.key);
      await assert.rejects(client.call('make_coffee'), /make_coffee/);
    });
  });
}

test('calls join while the job is open and young, and only where tool and arguments are equal', async () => {
  const caller = await paidCaller(studio.gateway);
  await using client = await clientOf('v1', caller.key);
  const known = studio.queue.tasks.length;
  const together = [1, 2, 3].map(() => client.call('generate_image', SLOW));
  const other = client.call('generate_image', { ...SLOW, prompt: 'a blue gate' });
  await until(() => studio.queue.tasks.length === known + 2);
  for (const task of studio.queue.tasks.slice(known)) task.advance('COMPLETED');
  const ids = (await studio.whileTimePasses(Promise.all(together))).map((answer) => jobIn(textOf(answer)));
  assert.equal(new Set(ids).size, 1);
  assert.notEqual(jobIn(textOf(await other)), ids[0]);
  // It has ended: an equal call makes another picture.
  const next = client.call('generate_image', SLOW);
  await until(() => studio.queue.tasks.length === known + 3);
  studio.gateway.clock.advance(MCP_JOIN_MS / 1000);
  // It is open, and too old.
  const last = client.call('generate_image', SLOW);
  await until(() => studio.queue.tasks.length === known + 4);
  for (const task of studio.queue.tasks.slice(known)) task.advance('COMPLETED');
  await studio.whileTimePasses(Promise.all([next, last]));
  assert.equal((await jobsOf(caller)).length, 4);
  assert.equal(await spentInTheEnd(studio.gateway, caller), 4 * IMAGE_PRICE);
});

test('an Idempotency-Key of a caller is never the key by which calls join', async () => {
  const caller = await paidCaller(studio.gateway);
  const answer = await studio.gateway.call('POST', '/v1/images/generations', {
    key: caller.key,
    body: SLOW,
    headers: { 'idempotency-key': 'mcp\tx' },
  });
  assert.equal(answer.json.error.code, 'invalid_idempotency_key');
});

test('a call leaves one row in the request log, as the route that it stands for does', async () => {
  const caller = await paidCaller(studio.gateway, IMAGE_PRICE);
  await using client = await clientOf('v2', caller.key);
  const made = succeeded(await client.call('generate_image', QUICK));
  refusal(await client.call('generate_image', QUICK));
  await client.call('credits');
  const { data } = (await studio.gateway.admin('GET', `/requests?account=${caller.accountId}`)).json;
  const rows = data.map(({ endpoint, model, job_id, error_code, credits }: Answer['json']) => [
    endpoint,
    model,
    job_id,
    error_code,
    credits,
  ]);
  assert.deepEqual(rows, [
    ['images', 'studio/direct', null, 'insufficient_credits', 0],
    ['images', 'studio/direct', jobIn(textOf(made)), null, IMAGE_PRICE],
  ]);
});

describe('scopes of a token', () => {
  const NEEDED: Readonly<Record<string, Scope>> = {
    generate_image: 'user:inference:image',
    edit_image: 'user:inference:image',
    generate_video: 'user:inference:video',
    generate_music: 'user:inference:audio',
    speak: 'user:inference:audio',
    transcribe: 'user:inference:audio',
    get_job: 'user:jobs',
    credits: 'user:credits',
  };

  for (const [tool, scope] of Object.entries(NEEDED)) {
    test(`R-122: ${tool} needs ${scope}, as its route does`, async () => {
      const caller = await paidCaller(studio.gateway);
      const grant = await apps.grant(caller.accountId);
      const rest = grant.scopes.filter((each) => each !== scope);
      const answer = await post({ key: await apps.token(grant, { scopes: rest }), ...calling(tool) });
      assert.deepEqual([answer.status, answer.json.error.code], [403, 'insufficient_scope']);
      const metadata = `${studio.gateway.config.publicUrl}/.well-known/oauth-protected-resource/mcp`;
      assert.equal(
        answer.headers['www-authenticate'],
        `Bearer error="insufficient_scope", scope="${scope}", resource_metadata="${metadata}"`,
      );
      const allowed = await post({ key: await apps.token(grant, { scopes: [scope] }), ...calling(tool) });
      assert.equal(allowed.status, 200, allowed.text);
    });
  }

  test('a token without any lists tools, models and prices', async () => {
    const caller = await paidCaller(studio.gateway);
    await using client = await clientOf('v2', await apps.token(await apps.grant(caller.accountId), { scopes: [] }));
    assert.equal((await client.tools()).length, 10);
    succeeded(await client.call('list_models'));
    succeeded(await client.call('estimate', { tool: 'generate_image', arguments: QUICK }));
  });

  test('what an argument names is read with the scope that reading it needs', async () => {
    const caller = await paidCaller(studio.gateway);
    const token = await apps.token(await apps.grant(caller.accountId), { scopes: ['user:inference:image'] });
    await using client = await clientOf('v1', token);
    for (const [id, scope] of [
      ['job_none', 'user:jobs'],
      ['ast_none', 'user:jobs'],
      ['file_none', 'user:files'],
    ])
      assert.match(
        refusal(await client.call('edit_image', { ...QUICK, images: [id] })),
        new RegExp(`lacks the scope "${scope}"`),
      );
  });
});

test('what is another account’s is not there', async () => {
  const victim = await paidCaller(studio.gateway);
  await using own = await clientOf('v1', victim.key);
  const made = succeeded(await own.call('generate_image', QUICK));
  const job_id = jobIn(textOf(made));
  const asset = /ast_\w+/.exec(textOf(made))?.[0];
  const other = await paidCaller(studio.gateway);
  for (const key of [other.key, await apps.newToken(other.accountId)]) {
    await using client = await clientOf('v1', key);
    assert.match(refusal(await client.call('get_job', { job_id })), /job_not_found/);
    for (const image of [job_id, asset]) {
      assert.match(refusal(await client.call('edit_image', { ...QUICK, images: [image] })), /job_not_found/);
    }
  }
  assert.equal((await moneyOf(studio.gateway, other)).spent, 0);
  succeeded(await own.call('get_job', { job_id }));
});

describe('the edge', () => {
  test('without a credential it says where one is to be had', async () => {
    for (const options of [{}, { key: 'sk-none' }, { key: 'oat_none' }]) {
      const answer = await post({ ...options, ...calling('credits') });
      assert.equal(answer.status, 401);
      const challenge = answer.headers['www-authenticate'] ?? '';
      const metadata = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? '';
      assert.match(
        challenge,
        /scope="user:inference:image user:inference:video user:inference:audio user:jobs user:credits"/,
      );
      for (const path of [new URL(metadata).pathname, '/.well-known/oauth-protected-resource']) {
        const { body, headers } = await request(studio.gateway.url + path);
        // biome-ignore lint/suspicious/noExplicitAny: a document of RFC 9728
        const json = (await body.json()) as any;
        assert.equal(json.resource, `${studio.gateway.config.publicUrl}/mcp`);
        assert.deepEqual(json.authorization_servers, [studio.gateway.config.publicUrl]);
        assert.equal(headers['access-control-allow-origin'], '*');
      }
    }
  });

  test('a key is taken in the header of its own too', async () => {
    const { key } = await paidCaller(studio.gateway);
    await using client = await connect('v1', studio.gateway.url, { 'x-api-key': key });
    assert.equal((await client.tools()).length, 10);
  });

  test('neither streams nor sessions: GET and DELETE are not allowed', async () => {
    const { key } = await paidCaller(studio.gateway);
    for (const method of ['GET', 'DELETE'] as const) {
      const answer = await request(`${studio.gateway.url}/mcp`, {
        method,
        headers: { authorization: `Bearer ${key}` },
      });
      assert.deepEqual([answer.statusCode, answer.headers.allow], [405, 'POST']);
      await answer.body.dump();
    }
  });

  test('web pages of other origins are refused, listed ones and programs are not', async () => {
    const { key } = await paidCaller(studio.gateway);
    const from = async (origin: string) => post({ key, headers: { origin }, ...calling('credits') });
    for (const origin of ['https://evil.example', 'null', 'http://pages.example']) {
      const { status, json } = await from(origin);
      assert.deepEqual([status, json.error.code], [403, 'foreign_origin'], origin);
    }
    const listed = await from('https://pages.example');
    assert.deepEqual([listed.status, listed.headers['access-control-allow-origin']], [200, 'https://pages.example']);
    assert.equal((await from(studio.gateway.config.publicUrl)).status, 200);
  });

  test('bodies that are too large, no JSON, or several messages at once are refused', async () => {
    const { key } = await paidCaller(studio.gateway);
    const large = await post({
      key,
      raw: Buffer.alloc(MCP_BODY_BYTES_MAX + 1, ' '),
      headers: { 'content-type': 'application/json' },
    });
    assert.deepEqual([large.status, large.json.error.code], [413, 'body_too_large']);
    assert.equal((await post({ key, raw: '{' })).json.error.code, 'invalid_json');
    const { body } = calling('generate_image', QUICK);
    assert.equal((await post({ key, body: [body, body] })).status, 400);
    const unfinished = await post({ key, body: { jsonrpc: '2.0', id: 1 } });
    assert.deepEqual([unfinished.status, typeof unfinished.json.error.code], [400, 'number'], unfinished.text);
  });

  test('a request takes from the minute of its key, as on /v1', async () => {
    const { key } = await studio.gateway.newCaller({ key: { rpm: 1 } });
    assert.equal((await post({ key, ...calling('list_models') })).status, 200);
    assert.equal((await post({ key, ...calling('list_models') })).json.error.code, 'rate_limited');
  });
});
