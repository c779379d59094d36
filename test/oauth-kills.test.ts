import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Db, openDb } from '../src/db/index.ts';
import { Browser } from './support/browser.ts';
import { createDatabase, silentLog } from './support/database.ts';
import { ADMIN_TOKEN, type Answer } from './support/gateway.ts';
import {
  authorizationRequest,
  authorize,
  CALLBACK,
  PASSWORD,
  redeem,
  refresh,
  type TestClient,
} from './support/oauth.ts';
import { atEnd, until } from './support/postgres.ts';
import { Program } from './support/program.ts';

// A process is killed with SIGKILL in the middle of a token request. The app asks another process on the same database
// again, as client libraries do: no code and no refresh token gives two sets of tokens, and no answer is lost.

const EMAIL = 'grace@example.com';
const COMMIT_LOCK = 20_260;

test('killed before the commit: the code still works, once', async (t) => {
  const stage = await Stage.start(t);
  const code = await stage.newCode();
  await stage.killBeforeCommit(() => code.redeemAt(stage.victim));
  const answer = await code.redeemAt(stage.survivor);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(await stage.liveTokens(), 1);
});

test('killed between commit and answer: the second use of the code is refused and leaves no token behind', async (t) => {
  const stage = await Stage.start(t);
  const code = await stage.newCode();
  await stage.killAfterCommit(() => code.redeemAt(stage.victim));
  assert.equal(await stage.liveTokens(), 1);
  const answer = await code.redeemAt(stage.survivor);
  assert.deepEqual([answer.status, answer.json.error], [400, 'invalid_grant']);
  assert.equal(await stage.liveTokens(), 0);
});

test('killed before the commit of a refresh: the refresh token still works, once', async (t) => {
  const stage = await Stage.start(t);
  const first = await (await stage.newCode()).redeemAt(stage.survivor);
  const used = first.json.refresh_token;
  await stage.killBeforeCommit(() => refresh(stage.victim, stage.client, used));
  const next = await refresh(stage.survivor, stage.client, used);
  assert.equal(next.status, 200, next.text);
  assert.equal(await stage.reads(next.json.access_token), 200);
  assert.equal((await refresh(stage.survivor, stage.client, used)).json.error, 'invalid_grant');
});

test('killed between commit and answer of a refresh: using the old token again revokes the grant', async (t) => {
  const stage = await Stage.start(t);
  const first = await (await stage.newCode()).redeemAt(stage.survivor);
  await stage.killAfterCommit(() => refresh(stage.victim, stage.client, first.json.refresh_token));
  assert.equal(await stage.reads(first.json.access_token), 200);
  const next = await refresh(stage.survivor, stage.client, first.json.refresh_token);
  assert.deepEqual([next.status, next.json.error], [400, 'invalid_grant']);
  assert.equal(await stage.liveTokens(), 0);
  assert.equal(await stage.reads(first.json.access_token), 401);
});

test('killed right after its answer: what was answered works at another process, between two refreshes too', async (t) => {
  const stage = await Stage.start(t);
  const first = await (await stage.newCode()).redeemAt(stage.survivor);
  const second = await refresh(stage.victim, stage.client, first.json.refresh_token);
  await stage.victim.kill('SIGKILL');
  assert.equal(second.status, 200, second.text);
  assert.equal(await stage.reads(second.json.access_token), 200);
  const third = await refresh(stage.survivor, stage.client, second.json.refresh_token);
  assert.equal(third.status, 200, third.text);
  assert.equal(await stage.reads(third.json.access_token), 200);
});

/** Two processes on one database, an app, and a person who has allowed it. */
class Stage {
  readonly victim: Program;
  readonly survivor: Program;
  readonly client: TestClient;
  readonly #db: Db;
  readonly #browser: Browser;
  readonly #person: { email: string; accountId: string };

  private constructor(
    programs: { victim: Program; survivor: Program },
    db: Db,
    client: TestClient,
    browser: Browser,
    person: { email: string; accountId: string },
  ) {
    this.victim = programs.victim;
    this.survivor = programs.survivor;
    this.#db = db;
    this.client = client;
    this.#browser = browser;
    this.#person = person;
  }

  static async start(t: TestContext): Promise<Stage> {
    const database = await createDatabase();
    atEnd(t, () => database.drop());
    const settings = {
      DATABASE_URL: database.url,
      TOLLGATE_DATA: database.dataFolder,
      TOLLGATE_ADMIN_TOKEN: ADMIN_TOKEN,
      TOLLGATE_SECRET: 'root-secret-of-the-tests-0123456789abcdef',
      PUBLIC_URL: 'http://gate.example',
    };
    const [victim, survivor] = await Promise.all([Program.start(t, settings), Program.start(t, settings)]);
    const db = openDb(database.address, silentLog);
    atEnd(t, () => db.close());
    const admin = async (path: string, body: unknown) => {
      const answer = await survivor.call('POST', `/api/admin${path}`, { key: ADMIN_TOKEN, body });
      assert.equal(answer.status, 200, answer.text);
      return answer.json;
    };
    const account = await admin('/accounts', { name: 'Grace', email: EMAIL, password: PASSWORD });
    const scopes = ['user:inference:image', 'user:credits'];
    const app = await admin('/oauth/clients', { name: 'Sketchbook', redirect_uris: [CALLBACK], scopes });
    const browser = new Browser(survivor.url, settings.PUBLIC_URL);
    const client = { id: app.id, secret: undefined };
    return new Stage({ victim, survivor }, db, client, browser, { email: EMAIL, accountId: account.id });
  }

  async newCode(): Promise<{ redeemAt(program: Program): Promise<Answer> }> {
    const asked = authorizationRequest(this.client, { scope: 'user:credits' });
    const address = await authorize(this.#browser, this.#person, asked);
    return { redeemAt: (program) => redeem(program, this.client, asked, address) };
  }

  /** Its rows are locked by another transaction until it is dead. */
  async killBeforeCommit(work: () => Promise<Answer>): Promise<void> {
    await this.#db.transaction(async (tx) => {
      await tx.rows('select from oauth_records for update');
      const answer = work().catch(() => undefined);
      await this.#untilWaiting();
      await this.victim.kill('SIGKILL');
      assert.equal(await answer, undefined);
    });
  }

  /** Its commit waits for a lock; it is halted, let commit, and killed before it can go on. */
  async killAfterCommit(work: () => Promise<Answer>): Promise<void> {
    await this.#db.run(
      `create function hold_commit() returns trigger language plpgsql as
       $$ begin perform pg_advisory_xact_lock_shared(${COMMIT_LOCK}); return null; end $$`,
      [],
    );
    await this.#db.run(
      `create constraint trigger hold_commit after insert on oauth_records deferrable initially deferred
       for each row execute function hold_commit()`,
      [],
    );
    const before = await this.#issued();
    const { answer } = await this.#db.transaction(async (tx) => {
      await tx.rows(`select pg_advisory_xact_lock(${COMMIT_LOCK})`);
      const answer = work().catch(() => undefined);
      await this.#untilWaiting();
      this.victim.child.kill('SIGSTOP');
      return { answer };
    });
    await until(async () => (await this.#issued()) > before);
    await this.victim.kill('SIGKILL');
    assert.equal(await answer, undefined);
    await this.#db.run('drop trigger hold_commit on oauth_records', []);
  }

  /** Status of a read with an access token, at the process that lives. */
  async reads(token: string): Promise<number> {
    return (await this.survivor.get('/v1/credits', token)).status;
  }

  async liveTokens(): Promise<number> {
    const rows = await this.#db.rows(
      `select from oauth_records t join oauth_grants g on g.id = t.grant_id
       where t.kind = 'AccessToken' and g.revoked_at is null`,
      [],
    );
    return rows.length;
  }

  async #issued(): Promise<number> {
    return (await this.#db.rows(`select from oauth_records where kind = 'AccessToken'`, [])).length;
  }

  /** For a lock, in this database. */
  async #untilWaiting(): Promise<void> {
    const waiting = `select from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database()`;
    await until(async () => (await this.#db.rows(waiting, [])).length > 0);
  }
}
