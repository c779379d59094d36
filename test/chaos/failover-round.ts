// One failover under load: the primary is killed, the replica promoted, and what was told is held against what there is.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LedgerSource } from '../../packages/verify/src/books.ts';
import { type Db, openDb } from '../../src/db/index.ts';
import { OpenAiEmulator } from '../../src/vendors/openai/emulator.ts';
import { silentLog, type TestDatabase } from '../support/database.ts';
import { Gateway } from '../support/gateway.ts';
import { paidCaller } from '../support/paid-calls.ts';
import { until } from '../support/postgres.ts';
import { ReplicatedPostgres } from '../support/replicated-postgres.ts';
import { checkFailover, type FailoverEvidence, gatherFailover } from './failover-check.ts';
import { Callers, KINDS, type Kind } from './failover-load.ts';

const GATEWAYS = 2;
const CREDITS = 1_000_000;
const CHATS_BEFORE = 60;
const REFUSALS_MIN = 5;
/** Of each kind, after the promotion. */
const DONE_AFTER = 10;
const REST_MS_MAX = 60_000;
/** What is accepted: from the promotion to the first success of each kind. */
const BACK_MS_MAX = 10_000;
const LOOK_AGAIN_MS = 100;

export interface FailoverOptions {
  /** Acknowledges before the replica has anything: the mistake that the check must find. */
  readonly isAsynchronous?: boolean;
}

export interface Failover {
  /** From the promotion to the first success of each kind. */
  readonly backAfterMs: Readonly<Record<Kind, number>>;
  /** From the kill to the end of the promotion. */
  readonly awayMs: number;
  readonly orders: number;
  readonly refusals: number;
  readonly entries: number;
  readonly findings: readonly string[];
}

/** Below an empty folder. */
export async function playFailover(folder: string, options: FailoverOptions = {}): Promise<Failover> {
  const postgres = await ReplicatedPostgres.start(folder);
  const upstream = new OpenAiEmulator();
  await upstream.start();
  const gateways: Gateway[] = [];
  try {
    while (gateways.length < GATEWAYS) gateways.push(await startGateway(postgres, folder));
    await gateways[0]?.putConfig(documentFor(upstream.url));
    return await play(postgres, upstream, gateways, options);
  } finally {
    for (const gateway of gateways) await gateway.stop();
    await upstream.stop();
    await postgres.stop();
  }
}

async function play(
  postgres: ReplicatedPostgres,
  upstream: OpenAiEmulator,
  gateways: readonly Gateway[],
  { isAsynchronous = false }: FailoverOptions,
): Promise<Failover> {
  const [gateway] = gateways;
  const [primary, replica] = postgres.servers;
  if (gateway === undefined) throw new Error('there is no gateway');
  const caller = await paidCaller(gateway, CREDITS);
  const callers = new Callers(gateways, caller);
  if (isAsynchronous) await postgres.loosen();
  callers.start();
  await until(() => callers.doneSince(0).chat >= CHATS_BEFORE);
  const pausedAtMs = performance.now();
  const receiver = isAsynchronous ? await replica.pauseReceiver() : undefined;
  if (isAsynchronous) await until(() => callers.doneSince(pausedAtMs).grant >= DONE_AFTER);
  const killedAtMs = performance.now();
  await primary.kill();
  receiver?.();
  await until(() => callers.refusals >= REFUSALS_MIN);
  await replica.promote();
  const promotedAtMs = performance.now();
  await until(() => Object.values(callers.doneSince(promotedAtMs)).every((count) => count >= DONE_AFTER));
  await callers.stop();
  const db = openDb({ url: postgres.url([replica]) }, silentLog);
  try {
    const { orders } = callers;
    const { evidence, findings } = await lookUntilRest(gateway, db, isAsynchronous ? 0 : REST_MS_MAX, (source) => {
      const submissions = upstream.submissions.map(({ fields }) => String(fields.prompt));
      return gatherFailover(source, caller.accountId, { orders, submissions });
    });
    const backMs = (kind: Kind) => Math.round(callers.firstDoneSince(kind, promotedAtMs) - promotedAtMs);
    const backAfterMs = { chat: backMs('chat'), stream: backMs('stream'), job: backMs('job'), grant: backMs('grant') };
    return {
      backAfterMs,
      awayMs: Math.round(promotedAtMs - killedAtMs),
      orders: orders.length,
      refusals: callers.refusals,
      entries: evidence.entries.length,
      findings: [...findings, ...lateKinds(backAfterMs)],
    };
  } finally {
    await db.close();
  }
}

function lateKinds(backAfterMs: Failover['backAfterMs']): readonly string[] {
  return KINDS.filter((kind) => backAfterMs[kind] > BACK_MS_MAX).map(
    (kind) => `${kind} was back ${backAfterMs[kind]} ms after the promotion, and must be within ${BACK_MS_MAX}`,
  );
}

/**
 * What is wrong once everything had time to end. An ending that met the outage is pending in its own process, which repeats
 * it within seconds; until then its call has no entries at all where its reservation met the outage as well.
 */
async function lookUntilRest(
  gateway: Gateway,
  db: Db,
  msMax: number,
  gather: (source: LedgerSource & { readonly db: Db }) => Promise<FailoverEvidence>,
): Promise<{ evidence: FailoverEvidence; findings: readonly string[] }> {
  const admin = async (_method: 'GET' | 'POST', path: string) => (await gateway.admin('GET', path)).json;
  for (const deadlineMs = performance.now() + msMax; ; await sleep(LOOK_AGAIN_MS)) {
    const evidence = await gather({ db, admin });
    const open = await db.rows<{ id: string }>(OPEN);
    const findings = [...open.map(({ id }) => `${id} stays open`), ...checkFailover(evidence)];
    if (findings.length === 0 || performance.now() > deadlineMs) return { evidence, findings };
  }
}

/** What stands in the journal alone is open as well. */
const OPEN = `select job_id::text as id from open_jobs union all select reservation_id::text from open_reservations
  union all select account_id from balances_now where reserved > 0`;

async function startGateway(postgres: ReplicatedPostgres, folder: string): Promise<Gateway> {
  const [{ connection }] = postgres.servers;
  const database: TestDatabase = {
    address: { ...connection, database: 'gate' },
    url: postgres.url(undefined, '&target_session_attrs=read-write'),
    dataFolder: join(folder, 'gateway'),
    drop: async () => undefined,
  };
  // Real time: leases and pauses are part of what is tried.
  return Gateway.start({ database, settings: { TOLLGATE_TEST_CLOCK: '1' } });
}

function documentFor(url: string): unknown {
  const routes = (model: string) => [{ upstream: 'only', model }];
  return {
    upstreams: [{ id: 'only', vendor: 'openai', base_url: url }],
    models: [
      {
        id: 'failover/chat',
        modality: 'chat',
        owned_by: 'chaos',
        endpoints: ['chat'],
        max_output_tokens: 1000,
        pricing: { mode: 'per_token', credits: { input_per_k: 1, output_per_k: 4 } },
        routes: routes('wire-name'),
      },
      {
        id: 'failover/photo',
        modality: 'image',
        owned_by: 'chaos',
        endpoints: ['images'],
        pricing: { mode: 'per_image', credits: { base: 40 } },
        routes: routes('gpt-image-2'),
      },
    ],
  };
}

export function showFailover(failover: Failover): string {
  const { backAfterMs, awayMs, orders, refusals, entries, findings } = failover;
  const back = KINDS.map((kind) => `${kind} ${backAfterMs[kind]} ms`).join(', ');
  return [
    ...findings,
    `back after the promotion: ${back} (${awayMs} ms after the kill)`,
    `${orders} orders, ${refusals} answers 503, ${entries} entries, ${findings.length} failures`,
  ].join('\n');
}
