import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Gateway } from './support/gateway.ts';
import { type Result, succeeded, textOf } from './support/mcp-clients.ts';
import {
  authorizationRequest,
  authorize,
  newBrowser,
  newPerson,
  redeem,
  refresh,
  registerApp,
} from './support/oauth.ts';

const PUBLIC_URL = 'http://127.0.0.1:18787';
const MCP_SCOPES = [
  'user:inference:image',
  'user:inference:video',
  'user:inference:audio',
  'user:jobs',
  'user:credits',
];

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start({ settings: { PUBLIC_URL } });
});
after(() => gateway.stop());

/** The deployment's public address is not the port that a test listens on. */
const led = (url: string | URL, init?: RequestInit) => fetch(String(url).replace(PUBLIC_URL, gateway.url), init);

/** A program on a person's machine, as the official libraries want it: it knows its id, and opens a browser. */
class Program {
  readonly redirectUrl = 'http://localhost:51004/callback';
  readonly clientMetadata = { redirect_uris: [this.redirectUrl] };
  readonly #clientId: string;
  opened: URL | undefined;
  #tokens: Result;
  #verifier = '';

  constructor(clientId: string) {
    this.#clientId = clientId;
  }

  clientInformation = () => ({ client_id: this.#clientId });
  tokens = () => this.#tokens;
  saveTokens = (tokens: Result) => {
    this.#tokens = tokens;
  };
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier;
  };
  codeVerifier = () => this.#verifier;
  redirectToAuthorization = (url: URL) => {
    this.opened = url;
  };
}

const IDENTITY = { name: 'tests', version: '1.0.0' };
const ADDRESS = new URL(`${PUBLIC_URL}/mcp`);

const OPEN = {
  v1: (authProvider: Program) => {
    const client = new ClientV1(IDENTITY);
    const transport = new TransportV1(ADDRESS, { authProvider, fetch: led });
    const finish = (answer: URLSearchParams) => transport.finishAuth(answer.get('code') ?? '');
    return { client, finish, connect: () => client.connect(transport) };
  },
  v2: (authProvider: Program) => {
    const client = new ClientV2(IDENTITY, { versionNegotiation: { mode: 'auto' } });
    const transport = new TransportV2(ADDRESS, { authProvider, fetch: led });
    const finish = (answer: URLSearchParams) => transport.finishAuth(answer);
    return { client, finish, connect: () => client.connect(transport) };
  },
};

for (const [name, open] of Object.entries(OPEN)) {
  test(`R-126, R-128: the official client ${name} finds the authorization server, asks a person, and calls with its token`, async () => {
    const app = await registerApp(gateway, { redirect_uris: ['http://localhost/callback'], scopes: MCP_SCOPES });
    const person = await newPerson(gateway);
    await gateway.admin('POST', `/accounts/${person.accountId}/grants`, { credits: 7 });
    const program = new Program(app.id);
    const first = open(program);
    await assert.rejects(first.connect(), /Unauthorized/);
    const { searchParams, pathname, search } = program.opened ?? assert.fail('no browser was opened');
    assert.equal(searchParams.get('resource'), `${PUBLIC_URL}/mcp`);
    assert.equal(searchParams.get('scope'), MCP_SCOPES.join(' '));
    const params = Object.fromEntries(searchParams);
    const back = await authorize(newBrowser(gateway), person, { verifier: '', params, path: pathname + search });
    assert.equal(back.origin + back.pathname, program.redirectUrl);
    await first.finish(back.searchParams);
    const { client, connect } = open(program);
    await connect();
    const credits: Result = succeeded(await client.callTool({ name: 'credits', arguments: {} }));
    assert.match(textOf(credits), /^7 credits are available/);
    await client.close();
    // Given out for the tools, it opens nothing else.
    const elsewhere = await gateway.call('GET', '/v1/credits', { key: program.tokens().access_token });
    assert.deepEqual([elsewhere.status, elsewhere.headers['www-authenticate']], [401, 'Bearer error="invalid_token"']);
  });
}

test('a token is bound to what it was asked for, and stays so when it is refreshed', async () => {
  const app = await registerApp(gateway);
  const person = await newPerson(gateway);
  const asked = authorizationRequest(app, { scope: 'user:credits', resource: `${PUBLIC_URL}/mcp` });
  const { json } = await redeem(gateway, app, asked, await authorize(newBrowser(gateway), person, asked));
  assert.equal(json.scope, 'user:credits');
  const later = (await refresh(gateway, app, json.refresh_token)).json;
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'credits', arguments: {} } };
  for (const key of [json.access_token, later.access_token]) {
    assert.equal((await gateway.call('POST', '/mcp', { key, body })).status, 200);
    assert.equal((await gateway.call('GET', '/v1/models', { key })).status, 401);
  }
});

test('a token that was asked for without a resource opens the tools as it opens the routes', async () => {
  const app = await registerApp(gateway);
  const asked = authorizationRequest(app, { scope: 'user:credits' });
  const address = await authorize(newBrowser(gateway), await newPerson(gateway), asked);
  const { access_token: key } = (await redeem(gateway, app, asked, address)).json;
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'credits', arguments: {} } };
  assert.equal((await gateway.call('POST', '/mcp', { key, body })).status, 200);
  assert.equal((await gateway.call('GET', '/v1/credits', { key })).status, 200);
});

test('a resource that is none of this deployment is refused', async () => {
  const app = await registerApp(gateway);
  for (const resource of ['https://elsewhere.example/mcp', `${PUBLIC_URL}/mcp/`, `${PUBLIC_URL}/v1`]) {
    const asked = authorizationRequest(app, { scope: 'user:credits', resource });
    const page = await newBrowser(gateway).fetch('GET', asked.path);
    assert.equal(new URL(page.headers.location ?? '').searchParams.get('error'), 'invalid_target', resource);
  }
});
