import type { Adapter, AdapterPayload } from 'oidc-provider';
import * as errors from 'oidc-provider/lib/helpers/errors.js';
import { recordChange } from '../audit/index.ts';
import { systemClock } from '../clock.ts';
import { DatabaseUnavailable, type Tx } from '../db/index.ts';
import type { OauthDeps, ServerDeps } from './deps.ts';
import { digestOf } from './digest.ts';
import { currentExchange, serverActor } from './exchange.ts';
import { revokeIn } from './grants.ts';
import { findUsableGrant, type OauthGrant } from './grants-store.ts';
import { ACCESS_TOKEN_SECONDS } from './lifetimes.ts';
import { clientMetadata } from './metadata.ts';
import { mcpResource } from './protected-resource.ts';
import { consumeRecord, deleteRecord, findRecord, type OauthRecord, saveRecord } from './records-store.ts';
import { findClientWithSecret } from './store.ts';

/** A code or token was used by two requests at once, and this one came second. */
export class UsedTwice extends Error {
  readonly grantId: string | undefined;

  constructor(grantId: string | undefined) {
    super('used twice at once');
    this.grantId = grantId;
  }
}

/**
 * Where the library keeps what it issues. Only digests of codes, tokens and ids are stored, and no payload repeats one.
 * The library measures by the system's time; expiry here is by the deployment's clock, and what is handed out is dated so
 * that the library comes to the same result.
 */
export function recordAdapter(deps: ServerDeps): (kind: string) => Adapter {
  return (kind) => {
    switch (kind) {
      case 'Client':
        return clientAdapter(deps);
      case 'Grant':
        return grantAdapter(deps);
      default:
        return new Records(deps, kind);
    }
  };
}

class Records implements Adapter {
  readonly #deps: OauthDeps;
  readonly #kind: string;

  constructor(deps: OauthDeps, kind: string) {
    this.#deps = deps;
    this.#kind = kind;
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
    const createdAt = this.#deps.clock.now();
    const { jti: _id, exp: _exp, iat: _iat, kind: _kind, returnTo, userCode, ...fields } = payload;
    const record = {
      kind: this.#kind,
      digest: digestOf(id),
      // The address to return to ends with the id.
      payload: typeof returnTo === 'string' ? { ...fields, returnTo: returnTo.replace(id, ID_MARK) } : fields,
      // A person who is being asked goes on being asked when an earlier grant is revoked.
      grantId: this.#kind === 'Interaction' ? undefined : payload.grantId,
      userCodeDigest: typeof userCode === 'string' ? digestOf(userCode) : undefined,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + expiresIn * 1000),
    };
    await this.#change((tx) => saveRecord(tx, record));
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const now = this.#deps.clock.now();
    const record = await orTemporarilyUnavailable(() => findRecord(this.#deps.db, this.#kind, digestOf(id), now));
    return record === undefined ? undefined : this.#payloadOf(id, record, now);
  }

  async consume(id: string): Promise<void> {
    await this.#change(async (tx) => {
      const now = this.#deps.clock.now();
      // Remembered for as long as the first token that it gave: until then a second use revokes that token.
      const keptUntil = new Date(now.getTime() + ACCESS_TOKEN_SECONDS * 1000);
      if (await consumeRecord(tx, this.#kind, digestOf(id), now, keptUntil)) return;
      const record = await findRecord(tx, this.#kind, digestOf(id), now);
      throw new UsedTwice(record?.grantId ?? undefined);
    });
  }

  async destroy(id: string): Promise<void> {
    await this.#change(async (tx) => {
      const grantId = await deleteRecord(tx, this.#kind, digestOf(id));
      if (grantId === undefined) return;
      const change = { at: this.#deps.clock.now(), action: 'token.revoke', target: grantId, detail: {} };
      await recordChange(tx, serverActor(), change);
      // Processes that know the token forget it.
      await this.#deps.bus.announce(tx, 'grant', grantId);
    });
  }

  /** With the grant itself, which is always destroyed too. */
  async revokeByGrantId(): Promise<void> {
    return undefined;
  }

  /** Sessions are our own, and a person's code for a device is looked up by its page. */
  async findByUid(): Promise<undefined> {
    return undefined;
  }

  async findByUserCode(): Promise<undefined> {
    return undefined;
  }

  async #change(write: (tx: Tx) => Promise<void>): Promise<void> {
    const exchange = currentExchange();
    if (exchange === undefined) await orTemporarilyUnavailable(() => this.#deps.db.transaction(write));
    else exchange.writes.push(write);
  }

  #payloadOf(id: string, record: OauthRecord, now: Date): AdapterPayload {
    const { payload, createdAt, expiresAt, consumedAt } = record;
    const { returnTo } = payload;
    return {
      ...payload,
      ...(typeof returnTo === 'string' ? { returnTo: returnTo.replace(ID_MARK, id) } : {}),
      jti: id,
      kind: this.#kind,
      iat: librarySeconds(createdAt, now),
      exp: librarySeconds(expiresAt, now),
      ...(consumedAt === null ? {} : { consumed: librarySeconds(consumedAt, now) }),
    };
  }
}

const ID_MARK = '{id}';

/** As far from the system's time as the moment is from now by the deployment's clock. */
function librarySeconds(moment: Date, now: Date): number {
  return Math.ceil((systemClock.nowMs() + moment.getTime() - now.getTime()) / 1000);
}

function grantAdapter(deps: ServerDeps): Adapter {
  return {
    ...NOT_KEPT,
    find: async (id) => {
      const grant = await orTemporarilyUnavailable(() => findUsableGrant(deps.db, id));
      return grant === undefined ? undefined : grantPayload(grant, mcpResource(deps.config.publicUrl));
    },
    destroy: async (id) => {
      await orTemporarilyUnavailable(() => deps.db.transaction((tx) => revokeIn(tx, deps, serverActor(), { id })));
      await deps.bus.heardByAll();
    },
  };
}

/** What a person allowed holds with and without a resource. */
function grantPayload({ id, personId, clientId, scopes }: OauthGrant, resource: string): AdapterPayload {
  const scope = scopes.join(' ');
  const resources = { [resource]: scope };
  return { jti: id, kind: 'Grant', accountId: personId, clientId, openid: { scope }, resources };
}

function clientAdapter(deps: OauthDeps): Adapter {
  return {
    ...NOT_KEPT,
    find: async (id) => {
      // PostgreSQL keeps no NUL: what has one in its name is not there.
      const client = id.includes('\0')
        ? undefined
        : await orTemporarilyUnavailable(() => findClientWithSecret(deps.db, id));
      return client === undefined ? undefined : clientMetadata(client);
    },
  };
}

/** Apps and grants are written by our own functions alone. */
const NOT_KEPT: Adapter = {
  upsert: () => Promise.reject(new Error('not kept by the library')),
  find: async () => undefined,
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  consume: () => Promise.reject(new Error('not kept by the library')),
  destroy: () => Promise.reject(new Error('not kept by the library')),
  revokeByGrantId: async () => undefined,
};

/** Turns an unavailable database into the protocol's own error, `temporarily_unavailable`. */
export async function orTemporarilyUnavailable<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw temporarilyUnavailable(error);
    throw error;
  }
}

export function temporarilyUnavailable(cause: Error): Error {
  const error = new errors.TemporarilyUnavailable('The server cannot answer just now. Try again.', { cause });
  return Object.assign(error, { status: 503, statusCode: 503, expose: true });
}
