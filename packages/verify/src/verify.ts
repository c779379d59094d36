// The campaigns as one run over one deployment, for an operator: what is possible here, the rounds, the verdict, the evidence.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../../../src/config.ts';
import { StartError } from '../../../src/start-error.ts';
import { runChaos as runAudio } from './audio/run.ts';
import type { Run } from './campaign.ts';
import { whyNoSmallDisk } from './disk.ts';
import type { Edit } from './edits.ts';
import { FAULT_KINDS, type FaultKind, termsOf } from './fault-kinds.ts';
import { runChaos as runJobs } from './jobs/run.ts';
import { redisTarget } from './redis-address.ts';
import type { RunOptions } from './run.ts';
import { openServer, proxyTarget, type Server, startServer } from './server.ts';

export interface VerifyOptions {
  /** `DATABASE_URL` and `REDIS_URL` choose the engines; an embedded database and limits in memory without them. */
  readonly environment: Environment;
  /** Faults to inject, over all campaigns. */
  readonly kills: number;
  readonly seed: number;
  readonly minutes: number | undefined;
  /** Undefined: all that can be had here. */
  readonly only: readonly FaultKind[] | undefined;
  /** Bugs planted into the gateways, to prove that the checkers find them. */
  readonly edits?: readonly Edit[];
  /** Made where a rule was violated. */
  readonly evidenceFolder: string;
  readonly progress: (line: string) => void;
}

interface CampaignReport {
  readonly name: string;
  readonly rounds: number;
  readonly kills: number;
  readonly hits: Readonly<Record<string, number>>;
  readonly orders: number;
  readonly submissions: number;
  readonly entries: number;
  readonly violations: readonly string[];
  /** Of the round that found them. */
  readonly seed: number | undefined;
}

export interface VerifyReport {
  readonly seed: number;
  readonly kinds: readonly FaultKind[];
  /** Kinds that cannot be had here, each with the reason. */
  readonly skipped: Readonly<Partial<Record<FaultKind, string>>>;
  readonly campaigns: readonly CampaignReport[];
  readonly evidence: string | undefined;
}

type RunCampaign = (server: Server, options: RunOptions) => Promise<Run>;

const CAMPAIGNS: Readonly<Record<string, RunCampaign>> = { jobs: runJobs, audio: runAudio };
const MINUTE_MS = 60_000;

/** Throws StartError where a deployment cannot be had. Stops at the first campaign that finds a violation. */
export async function runVerify(options: VerifyOptions): Promise<VerifyReport> {
  const { seed, environment, minutes, progress } = options;
  const skipped = await impossibleKinds(environment);
  const wanted = options.only ?? FAULT_KINDS;
  const refused = options.only?.find((kind) => skipped[kind] !== undefined);
  if (refused !== undefined) throw new StartError(`--only ${refused} is not possible here: ${skipped[refused]}.`);
  const kinds = wanted.filter((kind) => skipped[kind] === undefined);
  const server = await openDeployment(environment, kinds);
  const names = Object.keys(CAMPAIGNS);
  const untilMs = minutes === undefined ? Number.POSITIVE_INFINITY : performance.now() + minutes * MINUTE_MS;
  const campaigns: CampaignReport[] = [];
  let evidence: string | undefined;
  try {
    for (const [place, [name, run]] of Object.entries(CAMPAIGNS).entries()) {
      const terms = termsOf(kinds, server.postmaster !== undefined);
      const kills = Math.ceil((options.kills - spent(campaigns)) / (names.length - place));
      // The time that is left is shared as well.
      const endMs = performance.now() + (untilMs - performance.now()) / (names.length - place);
      const isOver = () => performance.now() >= endMs;
      const tell = (line: string) => progress(`${name}, ${line}`);
      const figures = await run(server, { kills, seed, terms, isOver, edits: options.edits, progress: tell });
      campaigns.push(campaignReport(name, figures));
      if (figures.findings.length === 0) continue;
      evidence = options.evidenceFolder;
      await keepEvidence(evidence, campaigns, figures.evidence);
      break;
    }
  } finally {
    await server.stop();
  }
  return { seed, kinds, skipped, campaigns, evidence };
}

/** Why each kind that cannot be had here cannot. */
async function impossibleKinds(environment: Environment): Promise<Partial<Record<FaultKind, string>>> {
  const { DATABASE_URL, REDIS_URL } = environment;
  const disk = await whyNoSmallDisk(environment.TMPDIR ?? '/tmp');
  const isLinked = DATABASE_URL === undefined || proxyTarget(DATABASE_URL) !== undefined;
  const database = isLinked ? undefined : 'a connection with TLS or to several hosts cannot be led through a proxy';
  const redis =
    REDIS_URL === undefined
      ? 'REDIS_URL is not set'
      : redisTarget(REDIS_URL) === undefined
        ? 'only a plain redis:// address can be led through a proxy'
        : undefined;
  return {
    ...(disk !== undefined && { disk }),
    ...(database !== undefined && { database }),
    ...(redis !== undefined && { redis }),
  };
}

function openDeployment(environment: Environment, kinds: readonly FaultKind[]): Promise<Server> {
  const means = {
    proxiesDatabase: kinds.includes('database'),
    boundsDisk: kinds.includes('disk'),
    redisUrl: environment.REDIS_URL,
  };
  const { DATABASE_URL } = environment;
  return DATABASE_URL === undefined ? startServer(environment, means) : openServer(DATABASE_URL, environment, means);
}

function spent(campaigns: readonly CampaignReport[]): number {
  return campaigns.reduce((sum, { kills }) => sum + kills, 0);
}

function campaignReport(name: string, run: Run): CampaignReport {
  const { rounds, kills, hits, orders, submissions, entries, findings, seed } = run;
  return { name, rounds, kills, hits, orders, submissions, entries, violations: findings, seed };
}

async function keepEvidence(folder: string, campaigns: readonly CampaignReport[], evidence: unknown): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, 'report.json'), JSON.stringify(campaigns, null, 2));
  if (evidence !== undefined) await writeFile(join(folder, 'evidence.json'), JSON.stringify(evidence, asJson, 2));
}

function asJson(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return value instanceof Map ? Object.fromEntries(value) : value;
}
