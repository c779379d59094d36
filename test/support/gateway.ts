import assert from 'node:assert/strict';
import { Agent, request } from 'undici';
import { type App, startApp } from '../../src/app.ts';
import { type Config, type Environment, loadConfig } from '../../src/config.ts';
import type { Logger } from '../../src/log.ts';
import { type ListedVendor, vendors } from '../../src/vendors/index.ts';
import { ManualClock } from './clock.ts';
import { ContractCheck } from './contract.ts';
import { createDatabase, silentLog, type TestDatabase } from './database.ts';

export const ADMIN_TOKEN = 'admin-token-of-the-tests';

/** An answer as it came over the wire. */
export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly json: any;
}

export interface CallOptions {
  readonly key?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly raw?: string | Buffer;
}

export interface GatewayOptions {
  /** Settings beside those that every test has. */
  readonly settings?: Environment;
  /** What `${NAME}` in a configuration is taken from. */
  readonly environment?: Environment;
  readonly log?: Logger;
  /** Another process on the same database. */
  readonly database?: TestDatabase;
  readonly clock?: ManualClock;
  /** In place of the program's own. */
  readonly vendors?: readonly ListedVendor[];
}

/** Only the test clock adds a route: gateways with it share one contract in this process, and those without it another. */
const contracts = new Map<boolean, ContractCheck>();

/** The whole program on a real port and a real database, with a clock moved by hand. */
export class Gateway {
  readonly url: string;
  /** Where the metrics are, when they have a port of their own. */
  readonly metricsUrl: string | undefined;
  readonly config: Config;
  readonly clock: ManualClock;
  readonly database: TestDatabase;
  readonly #app: App;
  readonly #ownsDatabase: boolean;
  readonly #agent = new Agent();
  #contract: ContractCheck | undefined;
  #checksBooks = false;

  private constructor(app: App, config: Config, database: TestDatabase, clock: ManualClock, ownsDatabase: boolean) {
    this.#app = app;
    this.url = app.url;
    this.metricsUrl = app.metricsUrl;
    this.config = config;
    this.database = database;
    this.clock = clock;
    this.#ownsDatabase = ownsDatabase;
  }

  static async start(options: GatewayOptions = {}): Promise<Gateway> {
    const database = options.database ?? (await createDatabase());
    const clock = options.clock ?? new ManualClock();
    const config = loadConfig({
      PORT: '0',
      DATABASE_URL: database.url,
      TOLLGATE_DATA: database.dataFolder,
      TOLLGATE_ADMIN_TOKEN: ADMIN_TOKEN,
      TOLLGATE_SECRET: 'root-secret-of-the-tests-0123456789abcdef',
      // A check by the clock might come before a test's own, or between two changes that a test makes by hand.
      TOLLGATE_BOOKS_MINUTES: '0',
      ...options.settings,
    });
    const timed = config.testClock ? {} : { clock };
    const app = await startApp({
      config,
      environment: options.environment ?? {},
      log: options.log ?? silentLog,
      vendors: options.vendors ?? vendors,
      progress: () => undefined,
      pacing: { random: Math.random, pause: async () => undefined },
      ...timed,
    });
    const gateway = new Gateway(app, config, database, clock, options.database === undefined);
    gateway.#contract = await gateway.#contractCheck();
    return gateway;
  }

  /** Any request; its answer is held to the published contract. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const answer = await this.#send(method, path, options);
    this.#contract?.check(method, path, answer);
    return answer;
  }

  async admin(method: string, path: string, body?: unknown): Promise<Answer> {
    return this.call(method, `/api/admin${path}`, { key: ADMIN_TOKEN, body });
  }

  /** A new account with one key. */
  async newCaller(options: { groups?: string[]; key?: Record<string, unknown> } = {}): Promise<NewCaller> {
    const account = await this.admin('POST', '/accounts', { name: 'Test', groups: options.groups });
    assert.equal(account.status, 200, account.text);
    const key = await this.admin('POST', `/accounts/${account.json.id}/keys`, { name: 'test', ...options.key });
    assert.equal(key.status, 200, key.text);
    return { accountId: account.json.id, keyId: key.json.id, key: key.json.key };
  }

  async putConfig(document: unknown): Promise<void> {
    const answer = await this.admin('PUT', '/config', document);
    assert.equal(answer.status, 200, answer.text);
  }

  /** Checks what has been entered since the last check. What was entered ever is checked once more at the stop. */
  async assertBooksBalance(): Promise<void> {
    this.#checksBooks = true;
    const books = await this.admin('GET', '/books');
    assert.equal(books.json.balanced, true, books.text);
  }

  reapplyFile(): Promise<void> {
    return this.#app.reapplyFile();
  }

  async stop(timeoutMs = 1000): Promise<void> {
    try {
      if (this.#checksBooks) await this.#assertWholeBooksBalance();
    } finally {
      await this.#agent.destroy();
      await this.#app.stop(timeoutMs);
      if (this.#ownsDatabase) await this.database.drop();
    }
  }

  async #contractCheck(): Promise<ContractCheck> {
    const { testClock } = this.config;
    const known = contracts.get(testClock);
    if (known !== undefined) return known;
    const made = new ContractCheck((await this.#send('GET', '/openapi.json', {})).json);
    contracts.set(testClock, made);
    return made;
  }

  async #assertWholeBooksBalance(): Promise<void> {
    this.#checksBooks = false;
    const books = await this.admin('GET', '/books?full=1');
    assert.equal(books.json.balanced, true, books.text);
  }

  async #send(method: string, path: string, options: CallOptions): Promise<Answer> {
    const headers: Record<string, string> = { ...options.headers };
    if (options.key !== undefined) headers.authorization = `Bearer ${options.key}`;
    const body = options.raw ?? (options.body === undefined ? null : JSON.stringify(options.body));
    if (options.raw === undefined && body !== null) headers['content-type'] ??= 'application/json';
    const response = await request(this.url + path, { method, headers, body, dispatcher: this.#agent });
    const text = await response.body.text();
    return { status: response.statusCode, headers: plainHeaders(response.headers), text, json: jsonOf(text) };
  }
}

export interface NewCaller {
  readonly accountId: string;
  readonly keyId: string;
  readonly key: string;
}

function plainHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
