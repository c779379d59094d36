import { createHash } from 'node:crypto';
import type { Clock } from '../../src/clock.ts';
import { Bus, type DbAddress, openDb, type PooledDb, type Tx } from '../../src/db/index.ts';
import { newId } from '../../src/ids.ts';
import { revokeGrant } from '../../src/oauth/index.ts';
import { SCOPES } from '../../src/scopes.ts';
import { newSecretText } from '../../src/secret-text.ts';
import { silentLog } from './database.ts';

const HOUR_MS = 3_600_000;

export interface GrantOptions {
  readonly scopes?: readonly string[];
  /** In credits. */
  readonly limit?: number;
  readonly reset?: 'day' | 'week' | 'month';
  /** Null makes the person no member of the account at all. */
  readonly role?: 'owner' | 'member' | 'viewer' | null;
  /** Of a person who exists already and belongs to the account. */
  readonly personId?: string;
}

export interface AppGrant {
  readonly accountId: string;
  readonly personId: string;
  readonly clientId: string;
  readonly grantId: string;
  readonly scopes: readonly string[];
}

export interface TokenOptions {
  readonly scopes?: readonly string[];
  readonly expiresAt?: Date;
}

/** Rows as the authorization server writes them, for tests of what tokens open and not of how they are obtained. */
export class Apps {
  readonly db: PooledDb;
  readonly #clock: Clock;
  readonly #bus: Bus;

  private constructor(address: DbAddress, clock: Clock) {
    this.db = openDb(address, silentLog);
    this.#clock = clock;
    this.#bus = new Bus(this.db, newId('proc'), silentLog);
  }

  static async open({ database, clock }: { database: { address: DbAddress }; clock: Clock }): Promise<Apps> {
    const apps = new Apps(database.address, clock);
    await apps.#bus.start();
    return apps;
  }

  async close(): Promise<void> {
    await this.#bus.stop();
    await this.db.close();
  }

  /** An app of its own that a person, a new one where none is given, lets act for the account. */
  async grant(accountId: string, options: GrantOptions = {}): Promise<AppGrant> {
    const { scopes = SCOPES, limit, reset = null, role = 'owner' } = options;
    const [clientId, grantId] = [newId('client'), newId('oag')];
    const personId = options.personId ?? newId('person');
    const now = this.#clock.now();
    const micro = limit === undefined ? null : BigInt(Math.round(limit * 1e6));
    await this.db.transaction(async (tx) => {
      if (options.personId === undefined) {
        await tx.run(`insert into people (id, email, name, created_at) values ($1, $1 || '@example.com', $1, $2)`, [
          personId,
          now,
        ]);
      }
      if (options.personId === undefined && role !== null) {
        await tx.run('insert into memberships (person_id, account_id, role, created_at) values ($1, $2, $3, $4)', [
          personId,
          accountId,
          role,
          now,
        ]);
      }
      await tx.run(
        `insert into oauth_clients (id, name, redirect_uris, scopes, created_at)
         values ($1, 'Test', '{https://app.example.com/back}', $2, $3)`,
        [clientId, SCOPES, now],
      );
      await tx.run(
        `insert into oauth_grants (id, client_id, account_id, person_id, scopes, credit_limit, credit_limit_reset,
           created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $8)`,
        [grantId, clientId, accountId, personId, scopes, micro, reset, now],
      );
    });
    return { accountId, personId, clientId, grantId, scopes };
  }

  /** One more token of a grant, as a refresh gives it. */
  async token({ grantId, clientId, personId, scopes: granted }: AppGrant, options: TokenOptions = {}): Promise<string> {
    const { scopes = granted, expiresAt = new Date(this.#clock.nowMs() + HOUR_MS) } = options;
    const token = newSecretText('oat_');
    const payload = { accountId: personId, clientId, grantId, scope: scopes.join(' ') };
    await this.db.run(
      `insert into oauth_records (kind, digest, payload, grant_id, created_at, expires_at)
       values ('AccessToken', $1, $2, $3, $4, $5)`,
      [digestOf(token), payload, grantId, this.#clock.now(), expiresAt],
    );
    return token;
  }

  /** A token of a grant of its own. */
  async newToken(accountId: string, options: GrantOptions = {}): Promise<string> {
    return this.token(await this.grant(accountId, options));
  }

  /** Changes what is behind a grant as the program does: announced with the change, and heard when this resolves. */
  async change({ grantId }: AppGrant, work: (tx: Tx) => Promise<unknown>): Promise<void> {
    await this.db.transaction(async (tx) => {
      await work(tx);
      await this.#bus.announce(tx, 'grant', grantId);
    });
    await this.#bus.heardByAll();
  }

  /** As the console does. */
  revoke({ grantId }: AppGrant): Promise<void> {
    const deps = { db: this.db, bus: this.#bus, clock: this.#clock };
    return revokeGrant(deps, { name: 'test', requestId: undefined }, grantId);
  }
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
