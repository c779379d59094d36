import { type Campaign, type Run as CampaignRun, runCampaign } from '../campaign.ts';
import { counted, type RunOptions, showFigures } from '../run.ts';
import type { Server } from '../server.ts';
import { findViolations } from './check.ts';
import { gatherEvidence } from './evidence.ts';
import type { Outcome } from './load.ts';
import { playRound } from './round.ts';
import { Upstreams } from './upstreams.ts';

const JOBS: Campaign<Upstreams, Outcome> = {
  name: 'jobs',
  startUpstreams: () => Upstreams.start(),
  playRound,
  lastLook: async (world, { outcomes, accountIds }) => {
    const evidence = await gatherEvidence(world, outcomes, accountIds);
    const keys = evidence.keys.map(({ key }) => `the key "${key}" is never forgotten`);
    return { evidence, findings: [...findViolations(evidence), ...keys] };
  },
  countEnds: async (db) => {
    const rows = await db.rows<{ status: string; jobs: number }>(
      'select status, count(*)::int as jobs from jobs group by status order by status',
    );
    return Object.fromEntries(rows.map(({ status, jobs }) => [status, jobs]));
  },
};

export interface Run extends CampaignRun {
  readonly jobs: number;
}

export async function runChaos(server: Server, options: RunOptions): Promise<Run> {
  const run = await runCampaign(JOBS, server, options);
  return { ...run, jobs: Object.values(run.ends).reduce((sum, jobs) => sum + jobs, 0) };
}

export function showRun(run: Run): string {
  const { jobs, ends, submissions, entries } = run;
  return showFigures(run, [`${jobs} jobs (${counted(ends)})`, `${submissions} submissions`, `${entries} entries`]);
}
