// How long reports of usage take before entries are rolled up by the hour and after, and what rolling up costs.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { request } from 'undici';
import { ADMIN_TOKEN, type Gateway } from './gateway.ts';
import { median, type Row } from './table.ts';

const DAY_S = 24 * 3_600;
const ASKS = 5;

/** Empties the roll-up first. */
export async function reportRows(gateway: Gateway, client: Client, entries: number): Promise<Row[]> {
  await client.query('truncate usage_hours, usage_progress');
  const reports = reportsOf(Math.floor(Date.now() / 1000));
  // One that takes longer than a statement may is refused: its time is that bound.
  const before: number[] = [];
  for (const path of Object.values(reports)) before.push(await msOf(gateway, path));
  const begun = performance.now();
  const databaseBefore = gateway.used().databaseMicros;
  while ((await behind(client)) > 0) await sleep(500);
  const seconds = (performance.now() - begun) / 1000;
  const micros = (gateway.used().databaseMicros - databaseBefore) / entries;
  await client.query('vacuum analyze usage_hours, usage_progress');
  const at = `${entries.toLocaleString('en')} entries`;
  const rows: Row[] = [];
  for (const [place, [name, path]] of Object.entries(reports).entries()) {
    const times: number[] = [];
    for (let asked = 0; asked < ASKS; asked++) times.push(await msOf(gateway, path));
    const [bare, tollgate] = [before[place] ?? 0, median(times)];
    rows.push({ measure: `${at}: ${name}, ms`, bare, tollgate, ratio: tollgate / bare, goal: '' });
  }
  const row = (measure: string, tollgate: number): Row => ({
    measure: `${at}: ${measure}`,
    bare: undefined,
    tollgate,
    ratio: '',
    goal: '',
  });
  return [...rows, row('rolled up after seconds', seconds), row('rolling up, database µs per entry', micros)];
}

function reportsOf(now: number): Record<string, string> {
  return {
    'usage of a year by day': `/usage?from=${now - 365 * DAY_S}&group_by=day`,
    'usage of 30 days by model': `/usage?from=${now - 30 * DAY_S}&group_by=model`,
    'usage of a day by account': `/usage?from=${now - DAY_S}&group_by=account`,
    overview: '/overview',
  };
}

async function msOf({ url }: Gateway, path: string): Promise<number> {
  const begun = performance.now();
  const answer = await request(`${url}/api/admin${path}`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
  await answer.body.dump();
  if (![200, 503].includes(answer.statusCode)) throw new Error(`${path} was answered ${answer.statusCode}`);
  if (answer.statusCode === 503) console.error(`  ${path} was refused`);
  return performance.now() - begun;
}

async function behind(client: Client): Promise<number> {
  const { rows } = await client.query<{ behind: string }>(
    `select sum(b.entries - coalesce(p.entries, 0)) as behind
     from balances b left join usage_progress p using (account_id)`,
  );
  return Number(rows[0]?.behind);
}
