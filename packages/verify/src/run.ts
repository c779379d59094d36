import type { Edit } from './edits.ts';
import { type BlowKind, isOutage, type Terms } from './fault-kinds.ts';

// Rounds of chaos until enough have been killed, then the end of time.

/** What came of a round. */
export interface Played {
  readonly kills: number;
  /** What was hit, and at which points; the points of blows that fell elsewhere are not among them. */
  readonly hits: readonly string[];
  /** How many pieces of work there are to show for it. */
  readonly works: number;
  readonly findings: readonly string[];
  /** All that was looked at. */
  readonly evidence?: unknown;
}

/** Everything that was ever ordered in a world, for the last look. */
export class History<Outcome> {
  readonly outcomes: Outcome[] = [];
  readonly accountIds: string[] = [];
}

export interface Figures {
  /** Of gateways and of the database; a gateway that was only halted counts as well. */
  readonly kills: number;
  /** How often what was hit where. */
  readonly hits: Readonly<Record<string, number>>;
  readonly rounds: number;
  /** Of the round that failed, if one did. */
  readonly seed: number | undefined;
  readonly findings: readonly string[];
  /** Of the round that failed. */
  readonly evidence?: unknown;
}

export interface RunOptions {
  /** Kills, or blows that kill nothing. */
  readonly kills: number;
  readonly seed: number;
  /** Planted bugs. */
  readonly edits?: readonly Edit[] | undefined;
  /** Unless a campaign has terms of its own. */
  readonly terms?: Terms | undefined;
  /** Whether the time for it is over. */
  readonly isOver?: () => boolean;
  /** Is told after each round. */
  readonly progress: (line: string) => void;
}

/** At least one round; stops at the first that finds something. `atTheEnd` tells what is found when all is over. */
export async function runRounds(
  options: RunOptions,
  play: (seed: number) => Promise<Played>,
  atTheEnd: () => Promise<readonly string[]>,
): Promise<Figures> {
  const hits: Record<string, number> = {};
  let [kills, rounds, blows] = [0, 0, 0];
  do {
    const seed = options.seed + rounds;
    const played = await play(seed).catch((error: Error) => brokenOff(error, rounds));
    kills += played.kills;
    blows += played.hits.length;
    for (const hit of played.hits) hits[hit] = (hits[hit] ?? 0) + 1;
    rounds++;
    options.progress(`seed ${seed}: ${kills} kills, ${played.works} works, ${played.hits.join(', ')}`);
    if (played.findings.length > 0) {
      return { hits, kills, rounds, seed, findings: played.findings, evidence: played.evidence };
    }
  } while (Math.max(kills, blows) < options.kills && options.isOver?.() !== true);
  return { hits, kills, rounds, seed: undefined, findings: await atTheEnd() };
}

/** A deployment that has run and runs no more is a finding; one that never ran is not. */
function brokenOff(error: Error, rounds: number): Played {
  if (rounds === 0) throw error;
  return { kills: 0, hits: [], works: 0, findings: [`the deployment did not go on: ${error.message}`] };
}

/** `more` is what else there is to count. */
export function showFigures({ kills, hits, rounds, seed, findings }: Figures, more: readonly string[]): string {
  const figures = [`${kills} kills in ${rounds} rounds`, ...more, `${findings.length} failures`];
  const where = seed === undefined ? '' : ` in the round of seed ${seed}`;
  return [...findings, `hit: ${counted(hits)}`, figures.join(', ') + where].join('\n');
}

export function counted(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

/** Where an engine was away, the program may complain in its log. */
export function excused<Evidence extends { readonly complaints: readonly string[] }>(
  evidence: Evidence,
  waves: readonly { readonly blow: { readonly kind: BlowKind } }[],
): Evidence {
  return waves.some(({ blow }) => isOutage(blow.kind)) ? { ...evidence, complaints: [] } : evidence;
}
