import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { loadVerify } from '../packages.ts';
import { type Invocation, UsageError } from './command.ts';

type Verify = Awaited<ReturnType<typeof loadVerify>>;
type VerifyReport = Awaited<ReturnType<Verify['runVerify']>>;

const KILLS = 40;
const KILLS_MAX = 1_000_000;
const SEEDS = 1_000_000;
const MINUTES_MAX = 10_000;

export async function runCampaigns({ options, environment }: Invocation): Promise<number> {
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
