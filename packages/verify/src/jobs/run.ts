// Rounds of chaos for jobs, then the end of time: everything stored must be gone.

import { counted, type Figures, History, type RunOptions, runRounds, showFigures } from '../run.ts';
import type { Server } from '../server.ts';
import { World } from '../world.ts';
import { findViolations } from './check.ts';
import { gatherEvidence } from './evidence.ts';
import type { Outcome } from './load.ts';
import { playRound } from './round.ts';
import { Upstreams } from './upstreams.ts';

/** Past the day on which results go, and the one on which keys are forgotten. */
const END_DAYS = 32;
const DAY_SECONDS = 24 * 60 * 60;

export interface Run extends Figures {
  readonly orders: number;
  readonly jobs: number;
  readonly entries: number;
  readonly submissions: number;
  /** How many jobs ended in each state. */
  readonly ends: Readonly<Record<string, number>>;
}

export async function runChaos(server: Server, options: RunOptions): Promise<Run> {
  const world = await World.open(server, 'jobs', await Upstreams.start(), options.edits);
  const history = new History<Outcome>();
  try {
    const figures = await runRounds(
      options,
      (seed) => playRound(world, history, seed, { terms: options.terms }),
      () => atTheEnd(world, history),
    );
    return await summary(world, history, figures);
  } finally {
    await world.close();
  }
}

/** All rules once more, over everything that ever was, and nothing stored may be left. */
async function atTheEnd(world: World<Upstreams>, { outcomes, accountIds }: History<Outcome>): Promise<string[]> {
  await world.moveForSure(END_DAYS * DAY_SECONDS);
  await world.moveForSure(1);
  const evidence = await gatherEvidence(world, outcomes, accountIds);
  const left = [...evidence.files.keys(), ...evidence.objects.map(({ key }) => key)];
  return [
    ...findViolations(evidence),
    ...left.map((key) => `${key} is left at the end of time`),
    ...evidence.keys.map(({ key }) => `the key "${key}" is never forgotten`),
  ];
}

async function summary({ db, upstreams }: World<Upstreams>, history: History<Outcome>, figures: Figures): Promise<Run> {
  const rows = await db.rows<{ status: string; jobs: number }>(
    'select status, count(*)::int as jobs from jobs group by status order by status',
  );
  const [row] = await db.rows<{ entries: number }>('select count(*)::int as entries from ledger_entries');
  return {
    ...figures,
    orders: history.outcomes.length,
    jobs: rows.reduce((sum, { jobs }) => sum + jobs, 0),
    entries: row?.entries ?? 0,
    submissions: upstreams.submissions.length,
    ends: Object.fromEntries(rows.map(({ status, jobs }) => [status, jobs])),
  };
}

export function showRun(run: Run): string {
  const { jobs, ends, submissions, entries } = run;
  return showFigures(run, [`${jobs} jobs (${counted(ends)})`, `${submissions} submissions`, `${entries} entries`]);
}
