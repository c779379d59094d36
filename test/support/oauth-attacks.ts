import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Browser, Page } from './browser.ts';
import type { Answer, Gateway } from './gateway.ts';
import {
  type AuthorizationRequest,
  appAddress,
  authorizationRequest,
  authorize,
  newBrowser,
  newPerson,
  openAuthorization,
  post,
  redeem,
  registerApp,
  type TestClient,
  type TestPerson,
} from './oauth.ts';

const SCOPE = 'user:credits';

/** Where an attack begins: an app of its own, a person who could allow it, and another app. */
export class Scene {
  readonly gateway: Gateway;
  readonly app: TestClient;
  readonly other: TestClient;
  readonly person: TestPerson;
  /** Tokens that must open nothing when the row has ended. */
  readonly dead: string[] = [];
  readonly alive: string[] = [];

  private constructor(gateway: Gateway, app: TestClient, other: TestClient, person: TestPerson) {
    this.gateway = gateway;
    this.app = app;
    this.other = other;
    this.person = person;
  }

  static async set(gateway: Gateway, fields: Record<string, unknown> = {}): Promise<Scene> {
    const [app, other] = [await registerApp(gateway, fields), await registerApp(gateway, { name: 'Other' })];
    return new Scene(gateway, app, other, await newPerson(gateway));
  }

  browser(): Browser {
    return newBrowser(this.gateway);
  }

  request(params: Record<string, string | undefined> = {}): AuthorizationRequest {
    return authorizationRequest(this.app, { scope: SCOPE, ...params });
  }

  /** A code that the person allowed, not used yet. */
  async code(params: Record<string, string | undefined> = {}): Promise<{ asked: AuthorizationRequest; address: URL }> {
    const asked = this.request(params);
    return { asked, address: await authorize(this.browser(), this.person, asked) };
  }

  async tokens(): Promise<{ access: string; refresh: string }> {
    const { asked, address } = await this.code();
    const answer = await redeem(this.gateway, this.app, asked, address);
    assert.equal(answer.status, 200, answer.text);
    return { access: answer.json.access_token, refresh: answer.json.refresh_token };
  }

  /** Redeems a code with these fields in the place of the right ones; undefined leaves one out. */
  async redeemWith(fields: Record<string, string | undefined>, client: TestClient = this.app): Promise<Answer> {
    const { asked, address } = await this.code();
    const all = {
      grant_type: 'authorization_code',
      code: address.searchParams.get('code') ?? '',
      redirect_uri: asked.params.redirect_uri,
      code_verifier: asked.verifier,
      ...fields,
    };
    const given = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined);
    return post(this.gateway, '/oauth/token', client, Object.fromEntries(given));
  }

  /** The grant of this app, as the operator sees it. */
  async grantId(): Promise<string> {
    return (await this.gateway.admin('GET', `/oauth/grants?client=${this.app.id}`)).json.data[0].id;
  }

  /** What a browser that is not signed in sees of a request. */
  async open(params: Record<string, string | undefined>): Promise<Page> {
    return openAuthorization(this.browser(), this.request(params).path);
  }
}

export function assertError(answer: Answer, error: string, status = 400): void {
  assert.deepEqual([answer.status, answer.json?.error], [status, error], answer.text);
  assert.equal(answer.json.access_token, undefined);
}

/** Told to the app, with the state and the issuer, and without a code. */
export function assertToldToApp(page: Page, error: string, asked: AuthorizationRequest, issuer: string): void {
  const address = appAddress(page);
  assert.equal(address.origin + address.pathname, asked.params.redirect_uri);
  // An app that asked for a token in the fragment is told its error there.
  const told = address.hash === '' ? address.searchParams : new URLSearchParams(address.hash.slice(1));
  assert.deepEqual(
    ['error', 'state', 'iss', 'code'].map((name) => told.get(name)),
    [error, asked.params.state ?? null, issuer, null],
  );
}

/** Told to the person alone: no address that came with the request is gone to. */
export function assertToldToPerson(page: Page, status = 400): void {
  assert.equal(page.status, status, page.text);
  assert.equal(page.headers.location, undefined);
  assert.equal(page.headers.refresh, undefined);
  assert.match(page.headers['content-type'] ?? '', /^text\/html/);
  assert.match(page.text, /req_\w+/);
}

export type Row = readonly [
  name: string,
  attack: (scene: Scene) => Promise<void>,
  fields?: Readonly<Record<string, unknown>>,
];

/** Each attack as a test: what it leaves behind opens nothing that it should not, and the books balance. */
export function attackRows(gatewayOf: () => Gateway, rows: readonly Row[]): void {
  for (const [name, attack, fields] of rows) {
    test(`attack: ${name}`, async () => {
      const gateway = gatewayOf();
      const scene = await Scene.set(gateway, fields);
      await attack(scene);
      for (const [tokens, status] of [
        [scene.dead, 401],
        [scene.alive, 200],
      ] as const) {
        for (const key of tokens) assert.equal((await gateway.call('GET', '/v1/credits', { key })).status, status, key);
      }
      await gateway.assertBooksBalance();
    });
  }
}
