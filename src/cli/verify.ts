import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { loadVerify } from '../packages.ts';
import { type Command, type Invocation, UsageError } from './command.ts';

type Verify = Awaited<ReturnType<typeof loadVerify>>;
type VerifyReport = Awaited<ReturnType<Verify['runVerify']>>;

const KILLS = 40;
const KILLS_MAX = 1_000_000;
const SEEDS = 1_000_000;
const MINUTES_MAX = 10_000;

export const verify: Command = {
  name: 'verify',
  operands: [],
  options: {
    kills: { value: 'N', summary: `faults to inject; ${KILLS} unless set` },
    minutes: { value: 'M', summary: 'begin no new round after this long' },
    seed: { value: 'S', summary: 'plays the same plan again; scheduling stays the machine’s' },
    only: { value: 'KINDS', summary: 'of kill,pause,stop,database,redis,disk,clock,upstream' },
    evidence: { value: 'FOLDER', summary: 'where evidence goes if a rule is violated' },
    json: { summary: 'print one JSON object instead of lines' },
  },
  summary: 'prove that no fault loses or doubles work or money',
  details: `Starts gateways of this release on a deployment made for the purpose, lets callers work against emulated
upstreams, and kills, pauses and stops the gateways, takes their database and Redis away, fills their disk, moves their
clock, and has upstreams that are slow, break off and lie. After each round a checker compares what callers were told
with entries, jobs, stored media and what upstreams did.

It works in databases of its own, on the server of DATABASE_URL or on an embedded one, and deletes them in the end; with
REDIS_URL limits are shared there. Existing data, stored media and upstreams are not touched.

Ends with 0 when no rule was violated, 1 when one was, with the evidence in a folder, 2 when it could not run.`,
  failureCode: 2,
  run: runCampaigns,
};

async function runCampaigns({ options, environment }: Invocation): Promise<number> {
  const seed = numberOf(options, 'seed', SEEDS) ?? randomInt(SEEDS);
  const kills = numberOf(options, 'kills', KILLS_MAX) ?? KILLS;
  const minutes = numberOf(options, 'minutes', MINUTES_MAX);
  const { runVerify, FAULT_KINDS } = await loadVerify();
  const only = options.only === undefined ? undefined : kindsOf(options.only, FAULT_KINDS);
  const report = await runVerify({
    environment,
    kills,
    seed,
    minutes,
    only,
    evidenceFolder: resolve(options.evidence ?? `tollgate-verify-${seed}`),
    progress: (line) => console.error(line),
  });
  console.log(options.json === undefined ? verifyLines(report).join('\n') : JSON.stringify(report));
  return report.campaigns.some(({ violations }) => violations.length > 0) ? 1 : 0;
}

function numberOf(options: Invocation['options'], name: string, max: number): number | undefined {
  const text = options[name];
  if (text === undefined) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= max)) throw new UsageError(`--${name} must be a whole number up to ${max}.`);
  return value;
}

function kindsOf<Kind extends string>(list: string, known: readonly Kind[]): readonly Kind[] {
  const names = list.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !known.some((kind) => kind === name));
  if (unknown !== undefined) throw new UsageError(`--only has no "${unknown}": it takes ${known.join(', ')}.`);
  return known.filter((kind) => names.includes(kind));
}

function verifyLines({ seed, skipped, campaigns, evidence }: VerifyReport): readonly string[] {
  const lines = campaigns.flatMap(({ name, rounds, kills, hits, orders, submissions, entries, violations }) => [
    ...violations.map((violation) => `VIOLATION ${name}: ${violation}`),
    `${name}: ${kills} kills in ${rounds} rounds, ${orders} orders, ${submissions} submissions, ${entries} entries, ` +
      `${violations.length} violations`,
    ...Object.entries(hits).map(([hit, count]) => `  ${String(count).padStart(4)}  ${hit}`),
  ]);
  const sum = (figure: 'kills' | 'orders' | 'entries') => campaigns.reduce((total, each) => total + each[figure], 0);
  const violations = campaigns.reduce((total, each) => total + each.violations.length, 0);
  return [
    ...lines,
    ...Object.entries(skipped).map(([kind, reason]) => `Not possible here: ${kind}, since ${reason}.`),
    ...(evidence === undefined ? [] : [`Evidence: ${evidence}`]),
    `${sum('kills')} kills, ${sum('orders')} orders, ${sum('entries')} entries, ${violations} violations; seed ${seed}`,
  ];
}
