// Mistakes that someone could make, put into the program of the chaos alone: a gateway of a planted world reads one module
// with another text. The checker must find each of them.
import { aimedPlan, type Plan } from './jobs-plan.ts';
import { History, playRound } from './jobs-round.ts';
import { type Server, World } from './jobs-world.ts';

/** A change to one module's text, made when a gateway of the chaos loads it and nowhere else. */
export interface Edit {
  /** Under src. */
  readonly file: string;
  /** Must stand there exactly once. */
  readonly from: string;
  readonly to: string;
}

interface Bug {
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

const BUGS: readonly Bug[] = [
  {
    name: 'settles in a second transaction after the state',
    edits: [
      { file: 'jobs/end.ts', from: 'await endAll(', to: 'await settledLater(' },
      {
        file: 'jobs/end.ts',
        from: 'type Tx = ',
        to: `const later: Parameters<typeof endAll>[] = [];
          const settledLater = async (...money: Parameters<typeof endAll>) => { later.push(money); };
          type Tx = `,
      },
      {
        file: 'jobs/end.ts',
        from: '  return ends.map(() => undefined);',
        to: `  for (const [, endings, now] of later.splice(0)) await parts.db.transaction((tx) => endAll(tx, endings, now));
          return ends.map(() => undefined);`,
      },
    ],
    plan: aimedPlan('kill', 'succeeded committed', 'pictures'),
  },
  {
    name: 'writes an attempt down after its call',
    edits: [
      {
        file: 'jobs/dispatch.ts',
        from: 'await engine.queue.save(current, { attempts: newAttempts(engine, current, candidate) });',
        to: '{ ...current, attempts: [...current.attempts, ...newAttempts(engine, current, candidate)] };',
      },
    ],
    plan: aimedPlan('kill', 'calls answered', 'singles'),
  },
  {
    name: 'submits again what may have been accepted',
    edits: [
      {
        file: 'jobs/dispatch.ts',
        from: "...failure('upstream_failed', 'nobody knows what became of the call')",
        to: "state: 'refused' as const",
      },
    ],
    plan: aimedPlan('kill', 'calls answered', 'singles'),
  },
  {
    name: 'saves without a look at the fence',
    edits: [
      {
        file: 'jobs/queue-store.ts',
        from: 'and open_jobs.fence = asked.fence\n    returning',
        to: 'returning',
      },
    ],
    plan: aimedPlan('halt', 'answers written down', 'refused, then endless'),
  },
  {
    name: 'deletes an object after its row',
    edits: [
      {
        file: 'intake/clean-up.ts',
        from: "log.trace('objects to be deleted');",
        to: "await forgetObjects(db, keys, now); log.trace('objects to be deleted');",
      },
    ],
    plan: aimedPlan('kill', 'objects to be deleted', 'edit'),
  },
  {
    name: 'binds a key in a second transaction after the admission',
    edits: [
      { file: 'jobs/admission.ts', from: 'await bindKeys(tx, bound, ', to: 'boundLater.push([bound, ' },
      {
        file: 'jobs/admission.ts',
        from: 'new Date(now.getTime() + FINGERPRINT_KEPT_MS));',
        to: 'new Date(now.getTime() + FINGERPRINT_KEPT_MS)]);',
      },
      {
        file: 'jobs/admission.ts',
        from: '    return verdicts;\n  }\n\n  async #admitAll',
        to: `    for (const [bound, until] of boundLater.splice(0)) {
            await this.#parts.db.transaction((tx) => bindKeys(tx, bound, until));
          }
          return verdicts;
        }

        async #admitAll`,
      },
      {
        file: 'jobs/admission.ts',
        from: 'type Verdict = ',
        to: 'const boundLater: [Parameters<typeof bindKeys>[1], Date][] = [];\ntype Verdict = ',
      },
    ],
    plan: aimedPlan('kill', 'admission committed', 'pictures'),
  },
];

interface Hunt {
  readonly seed: number;
  readonly roundsMax: number;
}

/** Plays each bug until something catches it. */
export async function catchPlanted(server: Server, asked: Hunt): Promise<readonly Caught[]> {
  const clean = await World.open(server, 'unplanted');
  const caught: Caught[] = [];
  try {
    for (const [number, bug] of BUGS.entries()) {
      const planted = await World.open(server, `planted_${number}`, bug.edits);
      try {
        // Seeds of its own: what is found by its prompt in the clean world must be there once.
        caught.push(await hunt(planted, clean, bug, { ...asked, seed: asked.seed + number * asked.roundsMax }));
      } finally {
        await planted.close();
      }
    }
  } finally {
    await clean.close();
  }
  return caught;
}

async function hunt(planted: World, clean: World, { name, plan }: Bug, { seed, roundsMax }: Hunt): Promise<Caught> {
  for (let round = 1; round <= roundsMax; round++) {
    const [finding] = (await playRound(planted, new History(), seed + round, plan)).findings;
    if (finding === undefined) continue;
    // It is the bug that was caught only if the same is clean without it.
    const { findings } = await playRound(clean, new History(), seed + round, plan);
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
