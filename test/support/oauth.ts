import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { request } from 'undici';
import { SIGN_INS_PER_EMAIL_RPM } from '../../src/limits.ts';
import { Browser, type Page } from './browser.ts';
import type { Answer, Gateway } from './gateway.ts';

export const CALLBACK = 'https://app.example/callback';
export const PASSWORD = 'correct horse battery';

export interface TestClient {
  readonly id: string;
  readonly secret: string | undefined;
}

/** An app as the operator registers it; a public one unless told otherwise. */
export async function registerApp(gateway: Gateway, fields: Record<string, unknown> = {}): Promise<TestClient> {
  const answer = await gateway.admin('POST', '/oauth/clients', {
    name: 'Sketchbook',
    redirect_uris: [CALLBACK],
    scopes: ['user:inference:image', 'user:inference:chat', 'user:jobs', 'user:credits'],
    ...fields,
  });
  assert.equal(answer.status, 200, answer.text);
  return { id: answer.json.id, secret: answer.json.client_secret };
}

export interface TestPerson {
  readonly id: string;
  readonly email: string;
  readonly accountId: string;
}

let people = 0;

/** A person who owns an account of their own. */
export async function newPerson(gateway: Gateway): Promise<TestPerson> {
  const email = `grace-${++people}@example.com`;
  const account = await gateway.admin('POST', '/accounts', { name: `Grace ${people}`, email, password: PASSWORD });
  assert.equal(account.status, 200, account.text);
  // Every person comes from the one address of the tests, whose bucket of sign-ins fills with time.
  gateway.clock.advance(60);
  const { data } = (await gateway.admin('GET', '/people?limit=1')).json;
  assert.equal(data[0].email, email);
  return { id: data[0].id, email, accountId: account.json.id };
}

/** Long enough after the one before it for the same person to sign in again. */
export function newBrowser(gateway: Gateway): Browser {
  gateway.clock.advance(60 / SIGN_INS_PER_EMAIL_RPM);
  return new Browser(gateway.url, gateway.config.publicUrl);
}

export async function signIn(browser: Browser, { email }: Pick<TestPerson, 'email'>): Promise<void> {
  const page = await browser.submit(await browser.open('/sign-in'), { email, password: PASSWORD });
  assert.equal(page.path, '/', page.text);
}

/** What an app puts into its request, and what it must remember until the answer. */
export interface AuthorizationRequest {
  readonly verifier: string;
  readonly params: Record<string, string>;
  readonly path: string;
}

/** `params` take the place of the usual ones; one that is undefined is left out. */
export function authorizationRequest(
  client: TestClient,
  params: Record<string, string | undefined> = {},
): AuthorizationRequest {
  const verifier = randomBytes(32).toString('base64url');
  const all: Record<string, string | undefined> = {
    response_type: 'code',
    client_id: client.id,
    redirect_uri: CALLBACK,
    scope: 'user:inference:image',
    state: randomBytes(8).toString('hex'),
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...params,
  };
  const given = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return {
    verifier,
    params: Object.fromEntries(given),
    path: `/oauth/authorize?${new URLSearchParams(given).toString()}`,
  };
}

/** Follows what a browser follows by itself: redirects within the site, and a page that goes on. */
export async function openAuthorization(browser: Browser, path: string): Promise<Page> {
  return goOn(browser, await browser.open(path));
}

async function goOn(browser: Browser, page: Page): Promise<Page> {
  const next = /^0; url=(.*)$/.exec(page.headers.refresh ?? '')?.[1];
  return next === undefined ? page : browser.open(next);
}

/** Where the app is told the answer; the page must be a redirect to it. */
export function appAddress(page: Page): URL {
  assert.ok(page.status === 302 || page.status === 303, `${page.status} ${page.text}`);
  return new URL(page.headers.location ?? '');
}

export interface Consent {
  readonly account?: string;
  readonly limit?: string;
  readonly reset?: string;
  readonly decision?: 'allow' | 'deny';
}

/** Sends a person through whatever pages come: signing in, consent. Returns the address at the app. */
export async function authorize(
  browser: Browser,
  person: Pick<TestPerson, 'email' | 'accountId'>,
  asked: AuthorizationRequest,
  consent: Consent = {},
): Promise<URL> {
  let page = await openAuthorization(browser, asked.path);
  if (page.path.startsWith('/sign-in')) {
    page = await goOn(browser, await browser.submit(page, { email: person.email, password: PASSWORD }));
  }
  if (page.path.startsWith('/oauth/consent/')) {
    assert.equal(page.status, 200, page.text);
    page = await browser.submit(page, { account: person.accountId, decision: 'allow', ...consent });
  }
  return appAddress(page);
}

/** A form to one of the server's endpoints, with the client's own proof. */
export async function post(
  gateway: Pick<Gateway, 'url'>,
  path: string,
  client: TestClient,
  form: Record<string, string>,
): Promise<Answer> {
  const proof = client.secret === undefined ? { client_id: client.id } : {};
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' };
  if (client.secret !== undefined) {
    headers.authorization = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`;
  }
  return send(gateway, path, new URLSearchParams({ ...proof, ...form }).toString(), headers);
}

/** The server's endpoints are no part of the API's contract, to which the gateway's own calls are held. */
async function send(
  { url }: Pick<Gateway, 'url'>,
  path: string,
  body: string,
  headers: Record<string, string>,
): Promise<Answer> {
  const response = await request(url + path, { method: 'POST', headers, body });
  const text = await response.body.text();
  const plain = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
  const isJson = String(response.headers['content-type']).includes('json');
  return {
    status: response.statusCode,
    headers: Object.fromEntries(plain),
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}

export async function redeem(
  gateway: Pick<Gateway, 'url'>,
  client: TestClient,
  asked: AuthorizationRequest,
  address: URL,
): Promise<Answer> {
  return post(gateway, '/oauth/token', client, {
    grant_type: 'authorization_code',
    code: address.searchParams.get('code') ?? '',
    redirect_uri: asked.params.redirect_uri ?? '',
    code_verifier: asked.verifier,
  });
}

export async function refresh(
  gateway: Pick<Gateway, 'url'>,
  client: TestClient,
  token: string,
  more: Record<string, string> = {},
): Promise<Answer> {
  return post(gateway, '/oauth/token', client, { grant_type: 'refresh_token', refresh_token: token, ...more });
}

export interface Tokens {
  readonly access: string;
  readonly refresh: string;
}

/** The whole way, from the app's request to its tokens. */
export async function tokensFor(
  gateway: Gateway,
  client: TestClient,
  person: TestPerson,
  options: { scope?: string; consent?: Consent; browser?: Browser } = {},
): Promise<Tokens> {
  const params = options.scope === undefined ? {} : { scope: options.scope };
  const asked = authorizationRequest(client, params);
  const address = await authorize(options.browser ?? newBrowser(gateway), person, asked, options.consent);
  const answer = await redeem(gateway, client, asked, address);
  assert.equal(answer.status, 200, answer.text);
  return { access: answer.json.access_token, refresh: answer.json.refresh_token };
}
