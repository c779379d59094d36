// Mistakes that could be made, put into the program of the chaos alone: a gateway of a planted world reads one module
// with another text. The checker must find each of them.
import type { Edit } from '../../packages/verify/src/edits.ts';
import type { Server } from '../../packages/verify/src/server.ts';
import type { World } from '../../packages/verify/src/world.ts';

export interface Bug<Plan> {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** Where it shows. */
  readonly plan: Plan;
}

export interface Caught {
  readonly name: string;
  readonly rounds: number;
  /** What caught it; undefined when it got away. */
  readonly finding: string | undefined;
}

/** How a kind of chaos opens a world and plays a round in it, which tells what was found. */
export interface Stage<Upstreams extends World['upstreams'], Plan> {
  open(server: Server, name: string, edits?: readonly Edit[]): Promise<World<Upstreams>>;
  play(world: World<Upstreams>, seed: number, plan: Plan): Promise<readonly string[]>;
}

export interface Hunt {
  readonly seed: number;
  readonly roundsMax: number;
}

/** Plays each bug until something catches it. */
export async function catchBugs<Upstreams extends World['upstreams'], Plan>(
  server: Server,
  bugs: readonly Bug<Plan>[],
  stage: Stage<Upstreams, Plan>,
  asked: Hunt,
): Promise<readonly Caught[]> {
  const clean = await stage.open(server, 'unplanted');
  const caught: Caught[] = [];
  try {
    for (const [number, bug] of bugs.entries()) {
      const planted = await stage.open(server, `planted_${number}`, bug.edits);
      try {
        // Seeds of its own: what is found by its name in the clean world must be there once.
        const hunt = { ...asked, seed: asked.seed + number * asked.roundsMax };
        caught.push(await catchOne(planted, clean, bug, stage, hunt));
      } finally {
        await planted.close();
      }
    }
  } finally {
    await clean.close();
  }
  return caught;
}

async function catchOne<Upstreams extends World['upstreams'], Plan>(
  planted: World<Upstreams>,
  clean: World<Upstreams>,
  { name, plan }: Bug<Plan>,
  stage: Stage<Upstreams, Plan>,
  { seed, roundsMax }: Hunt,
): Promise<Caught> {
  for (let round = 1; round <= roundsMax; round++) {
    const [finding] = await stage.play(planted, seed + round, plan);
    if (finding === undefined) continue;
    // It is the bug that was caught only if the same is clean without it.
    const findings = await stage.play(clean, seed + round, plan);
    if (findings.length > 0) throw new Error(`"${name}" is found where it is not: ${findings.join('; ')}`);
    return { name, rounds: round, finding };
  }
  return { name, rounds: roundsMax, finding: undefined };
}

export function showCaught(results: readonly Caught[]): string {
  const lines = results.map(({ name, rounds, finding }) =>
    finding === undefined ? `NOT CAUGHT in ${rounds} rounds: ${name}` : `${name}: round ${rounds}, "${finding}"`,
  );
  const count = results.filter(({ finding }) => finding !== undefined).length;
  return [...lines, `${count} of ${results.length} planted bugs caught`].join('\n');
}
