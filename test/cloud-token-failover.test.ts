import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { EntraEmulator } from '../src/vendors/azure/emulator/entra.ts';
import { AzureEmulator } from '../src/vendors/azure/emulator.ts';
import { GoogleTokensEmulator } from '../src/vendors/vertex/emulator/google-tokens.ts';
import { VertexEmulator } from '../src/vendors/vertex/emulator.ts';
import type { Fields } from './support/documents.ts';
import { Gateway } from './support/gateway.ts';
import { chatBody, moneyOf, paidCaller, tokenModel } from './support/paid-calls.ts';
import { upstreamHealth } from './support/upstream-health.ts';

// A model of a cloud that is called with the identity of the process, and behind it with a key.
const KEY = 'key-of-the-operator';
const PRICE = 3;
const PAID = { available: 1000 - PRICE, reserved: 0, spent: PRICE };
const TENANT = 'tenant-1';
const CLIENT = 'client-1';
const VOUCHER = 'vouched-by-the-cluster';

const folder = mkdtempSync(join(tmpdir(), 'cloud-token-'));
const tokenFile = join(folder, 'token');
writeFileSync(tokenFile, VOUCHER);
const entra = new EntraEmulator({ tenantId: TENANT, clientId: CLIENT, assertion: () => VOUCHER });
const google = new GoogleTokensEmulator();
const azure = new AzureEmulator({ apiKey: KEY, tokens: entra.tokens, deployments: ['talk'] });
const vertex = new VertexEmulator({ apiKey: KEY, tokens: google.tokens });

interface Cloud {
  readonly vendor: string;
  readonly model: string;
  readonly tokens: EntraEmulator | GoogleTokensEmulator;
  /** Requests for work that arrived, whatever they carried. */
  readonly calls: readonly unknown[];
  /** How the first upstream proves who calls, and the second. */
  readonly credentialed: () => readonly [byIdentity: Fields, byKey: Fields];
}

const CLOUDS: readonly Cloud[] = [
  {
    vendor: 'azure',
    model: 'talk',
    tokens: entra,
    calls: azure.calls,
    credentialed: () => [
      { base_url: azure.url, credential: { kind: 'workload_identity' } },
      { base_url: azure.url, api_key: KEY },
    ],
  },
  {
    vendor: 'vertex',
    model: 'gemini-2.5-pro',
    tokens: google,
    calls: vertex.calls,
    credentialed: () => [
      {
        base_url: vertex.url,
        credential: { kind: 'service_account', token_url: `${google.origin}/token` },
        api_key: Buffer.from(JSON.stringify(google.key)).toString('base64'),
      },
      { base_url: `${vertex.origin}/v1`, api_key: KEY },
    ],
  },
];

const servers = [azure, vertex, entra, google];
let gateway: Gateway;
before(async () => {
  await Promise.all(servers.map((server) => server.start()));
  const settings = {
    AZURE_TENANT_ID: TENANT,
    AZURE_CLIENT_ID: CLIENT,
    AZURE_FEDERATED_TOKEN_FILE: tokenFile,
    AZURE_AUTHORITY_HOST: entra.origin,
    TOLLGATE_CLOUD_HOSTS: '127.0.0.1',
  };
  gateway = await Gateway.start({ settings });
});
after(async () => {
  await gateway.stop();
  await Promise.all(servers.map((server) => server.stop()));
  rmSync(folder, { recursive: true });
});
afterEach(() => gateway.assertBooksBalance());

/** What a new caller is told, what it pays, how often a model was called, and what an operator sees of the first upstream. */
async function chatted({ vendor, model, credentialed, calls }: Cloud, name: string) {
  const upstreams = credentialed().map((fields, at) => ({ id: `${name}-${at}`, vendor, priority: 9 - at, ...fields }));
  const routes = upstreams.map(({ id }) => ({ upstream: id, model }));
  const pricing = { mode: 'per_request', credits: { base: PRICE } };
  await gateway.putConfig({ upstreams, models: [tokenModel('house/talk', [], { pricing, routes })] });
  const caller = await paidCaller(gateway);
  const known = calls.length;
  const answer = await gateway.call('POST', '/v1/chat/completions', { key: caller.key, body: chatBody('house/talk') });
  const told = JSON.stringify(answer.headers) + answer.text;
  const { whole, model: ofModel } = await upstreamHealth(gateway, `${name}-0`);
  const shown = { whole, model: ofModel };
  return { answer, told, money: await moneyOf(gateway, caller), calls: calls.length - known, shown };
}

for (const cloud of CLOUDS) {
  const { vendor, tokens } = cloud;
  describe(`${vendor}: the first upstream, whose identity gets no token`, () => {
    test('R-516: is left for the next where the token is refused, rests as a whole, and only the operator is told', async () => {
      const body = JSON.stringify({ error: 'invalid_grant', error_description: 'marker of the token server' });
      tokens.script({ kind: 'instead', status: 400, headers: { 'content-type': 'application/json' }, body });
      const { answer, told, money, calls, shown } = await chatted(cloud, `${vendor}-refused`);
      assert.deepEqual([answer.status, calls, money], [200, 1, PAID], answer.text);
      assert.doesNotMatch(told, /token server|invalid_grant|azure|vertex|entra|google|127\.0\.0\.1/i);
      const { state, last_fault, last_detail } = shown.whole;
      assert.deepEqual([state, last_fault], ['open', 'account'], JSON.stringify(shown));
      assert.match(String(last_detail), /^no token from .*marker of the token server/);
    });

    test('R-516: is left for the next where the token server is away, which is a strike, and only the operator is told', async () => {
      tokens.script({ kind: 'fault', fault: 'reset' }, { kind: 'fault', fault: 'reset' });
      const { answer, told, money, calls, shown } = await chatted(cloud, `${vendor}-away`);
      assert.deepEqual([answer.status, calls, money], [200, 1, PAID], answer.text);
      assert.doesNotMatch(told, /token server|azure|vertex|entra|google|127\.0\.0\.1/i);
      const { state, strikes, last_fault, last_detail } = shown.model;
      assert.deepEqual([state, strikes, last_fault], ['closed', 1, 'connection'], JSON.stringify(shown));
      assert.match(String(last_detail), /^no token from /);
    });
  });
}
