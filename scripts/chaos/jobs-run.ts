// Rounds of chaos until enough have been killed, then the end of time: everything stored must be gone.
import { check } from './jobs-check.ts';
import { gather } from './jobs-evidence.ts';
import { History, playRound } from './jobs-round.ts';
import { type Server, World } from './jobs-world.ts';

/** Past the day on which results go, and the one on which keys are forgotten. */
const END_DAYS = 32;
const DAY_SECONDS = 24 * 60 * 60;

export interface Run {
  /** Of gateways and of the database; a gateway that was only halted counts as well. */
  readonly kills: number;
  /** How often what was hit where. */
  readonly hits: Readonly<Record<string, number>>;
  readonly rounds: number;
  readonly jobs: number;
  readonly entries: number;
  readonly submissions: number;
  /** How many jobs ended in each state. */
  readonly ends: Readonly<Record<string, number>>;
  /** Of the round that failed, if one did. */
  readonly seed: number | undefined;
  readonly findings: readonly string[];
}

export interface RunOptions {
  readonly kills: number;
  readonly seed: number;
  /** Is told after each round. */
  readonly progress: (line: string) => void;
}

/** Stops at the first round that finds something. */
export async function runChaos(server: Server, options: RunOptions): Promise<Run> {
  const world = await World.open(server, 'chaos');
  const history = new History();
  const hits: Record<string, number> = {};
  let [kills, rounds] = [0, 0];
  try {
    while (kills < options.kills) {
      const seed = options.seed + rounds;
      const played = await playRound(world, history, seed);
      kills += played.kills;
      for (const hit of played.hits) hits[hit] = (hits[hit] ?? 0) + 1;
      rounds++;
      options.progress(`seed ${seed}: ${kills} kills, ${played.jobs} jobs, ${played.hits.join(', ')}`);
      if (played.findings.length > 0)
        return await summary(world, { hits, kills, rounds, seed, findings: played.findings });
    }
    await world.moveForSure(END_DAYS * DAY_SECONDS);
    await world.moveForSure(1);
    return await summary(world, { hits, kills, rounds, seed: undefined, findings: await atTheEnd(world, history) });
  } finally {
    await world.close();
  }
}

/** All rules once more, over everything that ever was, and nothing stored may be left. */
async function atTheEnd(world: World, { outcomes, accountIds }: History): Promise<string[]> {
  const evidence = await gather(world, outcomes, accountIds);
  const left = [...evidence.files.keys(), ...evidence.objects.map(({ key }) => key)];
  return [
    ...check(evidence),
    ...left.map((key) => `${key} is left at the end of time`),
    ...evidence.keys.map(({ key }) => `the key "${key}" is never forgotten`),
  ];
}

type Figures = Pick<Run, 'kills' | 'hits' | 'rounds' | 'seed' | 'findings'>;

async function summary({ db, upstreams }: World, figures: Figures): Promise<Run> {
  const rows = await db.rows<{ status: string; jobs: number }>(
    'select status, count(*)::int as jobs from jobs group by status order by status',
  );
  const [row] = await db.rows<{ entries: number }>('select count(*)::int as entries from ledger_entries');
  return {
    ...figures,
    jobs: rows.reduce((sum, { jobs }) => sum + jobs, 0),
    entries: row?.entries ?? 0,
    submissions: upstreams.submissions.length,
    ends: Object.fromEntries(rows.map(({ status, jobs }) => [status, jobs])),
  };
}

export function showRun({ kills, hits, rounds, jobs, ends, submissions, entries, seed, findings }: Run): string {
  const figures = [
    `${kills} kills in ${rounds} rounds`,
    `${jobs} jobs (${counted(ends)})`,
    `${submissions} submissions`,
    `${entries} entries`,
    `${findings.length} failures`,
  ];
  const where = seed === undefined ? '' : ` in the round of seed ${seed}`;
  return [...findings, `hit: ${counted(hits)}`, figures.join(', ') + where].join('\n');
}

function counted(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}
