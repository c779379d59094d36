// What old rows cost: the same calls and jobs on a young deployment and on one with the rows of a year, in turn.
//   npm run bench:rows                                            at 10^5, 10^6 and 10^7 ledger entries, about half an hour
//   npm run bench:rows -- --entries 100000 --folder /big/disk     10^7 entries need 10 GB in the folder, /tmp by default
//   npm run bench:rows -- --only books                            how long a check of all of them takes, and nothing else
//   npm run bench:rows -- --only reports --days 7                 how long reports of usage take, of rows of a week
// Both gateways run as an operator starts them; what is filled in is SQL (rows-fill.ts). Linux alone, as the bench is.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { request } from 'undici';
import { chatLoad } from './chat.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { loadFor, measureRounds } from './load.ts';
import { bookRows } from './rows-books.ts';
import { addAccounts, addCalls, type Past } from './rows-fill.ts';
import { reportRows } from './rows-reports.ts';
import { forkServer } from './servers.ts';
import { median, printTable, type Row, ratioRow } from './table.ts';

const CHAT_ROUNDS = 7;
const JOB_ROUNDS = 7;
const JOBS_PER_ROUND = 192;
const DAY_MS = 24 * 3_600_000;
/** An account may have 64 open. */
const JOBS_AT_ONCE = 32;
const GOAL = '≤ 1.1';

const { values } = parseArgs({
  options: {
    entries: { type: 'string', default: '100000,1000000,10000000' },
    days: { type: 'string', default: '365' },
    folder: { type: 'string' },
    only: { type: 'string' },
  },
});
if (values.folder !== undefined) process.env.TMPDIR = values.folder;
const sizes = values.entries.split(',').map(Number);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));

const tree = join(import.meta.dirname, '../..');
// What is filled in balances when all of it is there; a check by the clock would come before.
const subject = { tree, nodeOptions: '', settings: { TOLLGATE_BOOKS_MINUTES: '0' } };
const upstream = await forkServer('./fake-upstream.ts');
const studio = await forkServer('./fake-studio.ts');
const { young, old, youngClient, client, past } = await startPair();
try {
  let filled = 0;
  for (const entries of sizes) {
    console.error(`Filling up to ${entries.toLocaleString('en')} entries …`);
    await fill(filled, entries / 2);
    filled = entries / 2;
    console.error('Measuring …');
    // First of all, since rolling up what was filled in would be measured with the calls.
    if (isWanted('reports')) printTable(await reportRows(old, client, entries));
    if (isWanted('calls')) printTable(await measure(entries));
    if (isWanted('books')) printTable(await bookRows(tree, old, entries));
  }
} finally {
  await Promise.all([client.end(), youngClient.end()]);
  await Promise.all([young.stop(), old.stop(), upstream.stop(), studio.stop()]);
}

function isWanted(part: 'reports' | 'calls' | 'books'): boolean {
  return values.only === undefined || values.only === part;
}

interface Pair {
  readonly young: Gateway;
  readonly old: Gateway;
  readonly youngClient: Client;
  /** To the old one's database. */
  readonly client: Client;
  readonly past: Past;
}

async function startPair(): Promise<Pair> {
  const young = await startGateway(subject, upstream.url, studio.url);
  const old = await startGateway(subject, upstream.url, studio.url);
  const [youngClient, client] = [await connectTo(young), await connectTo(old)];
  const endMs = Date.now() - 3_600_000;
  const past = { client, calls: (sizes.at(-1) ?? 0) / 2, beginMs: endMs - Number(values.days) * DAY_MS, endMs };
  await addAccounts(past);
  return { young, old, youngClient, client, past };
}

async function connectTo({ folder }: Gateway): Promise<Client> {
  const client = new Client({ host: join(folder, 'postgres'), port: 5432, user: 'postgres', database: 'postgres' });
  await client.connect();
  await client.query('set synchronous_commit = off');
  return client;
}

async function fill(from: number, upto: number): Promise<void> {
  const begun = performance.now();
  await addCalls(past, from, upto);
  console.error(`  ${Math.round((upto - from) / ((performance.now() - begun) / 1000))} calls per second`);
  await client.query('vacuum analyze');
  await client.query('checkpoint');
}

async function measure(entries: number): Promise<Row[]> {
  const at = `${entries.toLocaleString('en')} entries`;
  const limited = { credit_limit: 1_000_000, credit_limit_reset: 'month' };
  const keys: string[] = [];
  for (const gateway of [young, old]) {
    const path = `/accounts/${gateway.accountId}/keys`;
    keys.push((await gateway.admin<{ key: string }>(path, { name: 'limited', ...limited })).key);
  }
  const byPurse = await measureRounds(young, old, chatLoad('plain'), CHAT_ROUNDS);
  const [youngKey = '', oldKey = ''] = keys;
  const byLock = await measureRounds(
    { ...young, key: youngKey },
    { ...old, key: oldKey },
    chatLoad('plain'),
    CHAT_ROUNDS,
  );
  const rows = [
    { what: `${at}: chat`, rounds: byPurse },
    { what: `${at}: chat under the account lock`, rounds: byLock },
  ].flatMap(({ what, rounds }) => [
    ratioRow(
      { measure: `${what}, processor µs with the database`, goal: GOAL },
      rounds.map(({ bare, tollgate }) => [
        bare.cpuMicros + bare.databaseMicros,
        tollgate.cpuMicros + tollgate.databaseMicros,
      ]),
    ),
    ratioRow(
      { measure: `${what}, of that the database`, goal: '' },
      rounds.map(({ bare, tollgate }) => [bare.databaseMicros, tollgate.databaseMicros]),
    ),
  ]);
  return [...rows, ...(await measureJobs(at)), ...(await blockRows(at)), await diskRow(at)];
}

async function measureJobs(at: string): Promise<Row[]> {
  const pairs: [JobFigures, JobFigures][] = [];
  for (const gateway of [young, old]) await makeJobs(gateway);
  for (let round = 0; round < JOB_ROUNDS; round++) pairs.push([await makeJobs(young), await makeJobs(old)]);
  return [
    ratioRow(
      { measure: `${at}: job made and done, processor µs with the database`, goal: GOAL },
      pairs.map(([bare, aged]) => [bare.cpuMicros, aged.cpuMicros]),
    ),
    ratioRow(
      { measure: `${at}: job, median ms until it is admitted`, goal: GOAL },
      pairs.map(([bare, aged]) => [bare.admissionMs, aged.admissionMs]),
    ),
  ];
}

interface JobFigures {
  readonly cpuMicros: number;
  readonly admissionMs: number;
}

/** Processor time of both processes per job, from its creation to its end, and how long its creation took. */
async function makeJobs(gateway: Gateway): Promise<JobFigures> {
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ model: 'bench/instant', prompt: 'a gate in the rain' });
  const before = gateway.used();
  const waits: number[] = [];
  for (let made = 0; made < JOBS_PER_ROUND; made += JOBS_AT_ONCE) {
    const create = async () => {
      const begun = performance.now();
      const answer = await request(`${gateway.url}/v1/images/generations`, { method: 'POST', headers, body });
      await answer.body.dump();
      if (answer.statusCode !== 202) throw new Error(`a job was answered ${answer.statusCode}`);
      waits.push(performance.now() - begun);
    };
    await Promise.all(Array.from({ length: JOBS_AT_ONCE }, create));
    while ((await countOpen(gateway, headers)) > 0) await sleep(50);
  }
  await sleep(1_500);
  const after = gateway.used();
  const cpu = after.cpuMicros + after.databaseMicros - before.cpuMicros - before.databaseMicros;
  return { cpuMicros: cpu / JOBS_PER_ROUND, admissionMs: median(waits) };
}

async function countOpen(gateway: Gateway, headers: Record<string, string>): Promise<number> {
  let open = 0;
  for (const status of ['queued', 'running']) {
    const answer = await request(`${gateway.url}/v1/jobs?status=${status}&limit=1`, { headers });
    open += ((await answer.body.json()) as { data: unknown[] }).data.length;
  }
  return open;
}

/** Pages of the database that a chat looks at or changes, and those that were not in its memory: the same on a busy machine. */
async function blockRows(at: string): Promise<Row[]> {
  const fresh = await blocksPerChat(young, youngClient);
  const aged = await blocksPerChat(old, client);
  return [
    ratioRow({ measure: `${at}: pages per chat`, goal: '' }, [[fresh.touched, aged.touched]]),
    ratioRow({ measure: `${at}: of these read from outside`, goal: '' }, [[fresh.read, aged.read]]),
  ];
}

async function blocksPerChat(gateway: Gateway, statistics: Client): Promise<Record<'touched' | 'read', number>> {
  const look = async () => {
    // Sessions report what they counted within ten seconds of their last statement.
    await sleep(11_000);
    const { rows: found } = await statistics.query<{ touched: string; read: string }>(
      `select sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit) as touched,
         sum(heap_blks_read + idx_blks_read) as read
       from pg_statio_user_tables where relname <> all ('{ledger_journal,request_log}')`,
    );
    return { touched: Number(found[0]?.touched), read: Number(found[0]?.read) };
  };
  const before = await look();
  const { requests } = await loadFor(gateway, chatLoad('plain'));
  const after = await look();
  return { touched: (after.touched - before.touched) / requests, read: (after.read - before.read) / requests };
}

/** Bytes on disk per call that has ended, indexes included: what a deployment grows by. */
async function diskRow(at: string): Promise<Row> {
  const { rows: found } = await client.query<{ bytes: string; calls: string }>(
    `select sum(pg_total_relation_size(name::regclass)) as bytes, (select count(*) from reservations) as calls
     from unnest(array['reservations', 'ledger_entries']) as name`,
  );
  const bytes = Number(found[0]?.bytes) / Number(found[0]?.calls);
  return { measure: `${at}: bytes of ledger per call`, bare: undefined, tollgate: bytes, ratio: '', goal: '' };
}
