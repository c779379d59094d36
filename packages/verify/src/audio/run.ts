// Rounds of chaos for sound, then the end of time: everything stored must be gone, and the money stays.

import { counted, type Figures, History, type RunOptions, runRounds, showFigures } from '../run.ts';
import type { Server } from '../server.ts';
import { World } from '../world.ts';
import { findViolations } from './check.ts';
import { gatherEvidence, type Told } from './evidence.ts';
import { playRound } from './round.ts';
import { Upstreams } from './upstreams.ts';

/** Past the day on which transcripts and speech go. */
const END_DAYS = 32;
const DAY_SECONDS = 24 * 60 * 60;

export interface Run extends Figures {
  readonly orders: number;
  readonly submissions: number;
  readonly entries: number;
  /** How each kind of money ended. */
  readonly ends: Readonly<Record<string, number>>;
}

export async function runChaos(server: Server, options: RunOptions): Promise<Run> {
  const world = await World.open(server, 'audio', await Upstreams.start(), options.edits);
  const history = new History<Told>();
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
async function atTheEnd(world: World<Upstreams>, { outcomes, accountIds }: History<Told>): Promise<string[]> {
  await world.moveForSure(END_DAYS * DAY_SECONDS);
  await world.moveForSure(1);
  const evidence = await gatherEvidence(world, outcomes, accountIds);
  const left = [...evidence.files.keys(), ...evidence.objects.map(({ key }) => key)];
  return [...findViolations(evidence), ...left.map((key) => `${key} is left at the end of time`)];
}

async function summary({ db, upstreams }: World<Upstreams>, history: History<Told>, figures: Figures): Promise<Run> {
  const rows = await db.rows<{ end: string; count: number }>(
    `select endpoint || ' ' || type as end, count(*)::int as count
     from ledger_entries join reservations on reservations.id = reservation_id
     where type <> 'reserve' group by 1 order by 1`,
  );
  const [row] = await db.rows<{ entries: number }>('select count(*)::int as entries from ledger_entries');
  return {
    ...figures,
    orders: history.outcomes.length,
    submissions: upstreams.submissions.length,
    entries: row?.entries ?? 0,
    ends: Object.fromEntries(rows.map(({ end, count }) => [end, count])),
  };
}

export function showRun(run: Run): string {
  const { orders, ends, submissions, entries } = run;
  return showFigures(run, [`${orders} orders (${counted(ends)})`, `${submissions} submissions`, `${entries} entries`]);
}
