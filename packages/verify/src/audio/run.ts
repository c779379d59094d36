import { type Campaign, type Run, runCampaign } from '../campaign.ts';
import { counted, type RunOptions, showFigures } from '../run.ts';
import type { Server } from '../server.ts';
import { findViolations } from './check.ts';
import { gatherEvidence, type Told } from './evidence.ts';
import { playRound } from './round.ts';
import { Upstreams } from './upstreams.ts';

const AUDIO: Campaign<Upstreams, Told> = {
  name: 'audio',
  startUpstreams: () => Upstreams.start(),
  playRound,
  lastLook: async (world, { outcomes, accountIds }) => {
    const evidence = await gatherEvidence(world, outcomes, accountIds);
    return { evidence, findings: findViolations(evidence) };
  },
  countEnds: async (db) => {
    const rows = await db.rows<{ end: string; count: number }>(
      `select endpoint || ' ' || type as end, count(*)::int as count
       from ledger_entries join reservations on reservations.id = reservation_id
       where type <> 'reserve' group by 1 order by 1`,
    );
    return Object.fromEntries(rows.map(({ end, count }) => [end, count]));
  },
};

export function runChaos(server: Server, options: RunOptions): Promise<Run> {
  return runCampaign(AUDIO, server, options);
}

export function showRun(run: Run): string {
  const { orders, ends, submissions, entries } = run;
  return showFigures(run, [`${orders} orders (${counted(ends)})`, `${submissions} submissions`, `${entries} entries`]);
}
