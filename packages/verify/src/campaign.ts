import type { Db } from '../../../src/db/index.ts';
import type { Terms } from './fault-kinds.ts';
import { type Figures, History, type Played, type RunOptions, runRounds } from './run.ts';
import type { Server } from './server.ts';
import { World, type WorldUpstreams } from './world.ts';

// A campaign: rounds of chaos for one kind of work, then the end of time, at which everything stored must be gone.

/** Past the days on which results, transcripts and speech go, and the one on which keys are forgotten. */
const END_DAYS = 32;
const DAY_SECONDS = 24 * 60 * 60;

interface CampaignUpstreams extends WorldUpstreams {
  /** What they were asked to do. */
  readonly submissions: readonly unknown[];
}

export interface Campaign<Upstreams extends CampaignUpstreams, Outcome> {
  readonly name: string;
  startUpstreams(): Promise<Upstreams>;
  playRound(
    world: World<Upstreams>,
    history: History<Outcome>,
    seed: number,
    options: { readonly terms: Terms | undefined },
  ): Promise<Played>;
  /** All rules once more, over everything that ever was. */
  lastLook(world: World<Upstreams>, history: History<Outcome>): Promise<LastLook>;
  /** How many pieces of work came to each end. */
  countEnds(db: Db): Promise<Readonly<Record<string, number>>>;
}

interface LastLook {
  readonly findings: readonly string[];
  readonly evidence: {
    readonly files: ReadonlyMap<string, unknown>;
    readonly objects: readonly { readonly key: string }[];
  };
}

export interface Run extends Figures {
  readonly orders: number;
  readonly submissions: number;
  readonly entries: number;
  readonly ends: Readonly<Record<string, number>>;
}

export async function runCampaign<Upstreams extends CampaignUpstreams, Outcome>(
  campaign: Campaign<Upstreams, Outcome>,
  server: Server,
  options: RunOptions,
): Promise<Run> {
  const world = await World.open(server, campaign.name, await campaign.startUpstreams(), options.edits);
  const history = new History<Outcome>();
  try {
    const figures = await runRounds(
      options,
      (seed) => campaign.playRound(world, history, seed, { terms: options.terms }),
      () => atTheEnd(campaign, world, history),
    );
    const { db, upstreams } = world;
    const [row] = await db.rows<{ entries: number }>('select count(*)::int as entries from ledger_entries');
    return {
      ...figures,
      orders: history.outcomes.length,
      submissions: upstreams.submissions.length,
      entries: row?.entries ?? 0,
      ends: await campaign.countEnds(db),
    };
  } finally {
    await world.close();
  }
}

/** Nothing stored may be left. */
async function atTheEnd<Upstreams extends CampaignUpstreams, Outcome>(
  campaign: Campaign<Upstreams, Outcome>,
  world: World<Upstreams>,
  history: History<Outcome>,
): Promise<string[]> {
  await world.moveForSure(END_DAYS * DAY_SECONDS);
  await world.moveForSure(1);
  const { findings, evidence } = await campaign.lastLook(world, history);
  const left = [...evidence.files.keys(), ...evidence.objects.map(({ key }) => key)];
  return [...findings, ...left.map((key) => `${key} is left at the end of time`)];
}
