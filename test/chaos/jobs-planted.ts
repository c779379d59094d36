// Mistakes in the life of a job that the checker of the chaos must find.
import { aimedPlan, type Plan } from '../../packages/verify/src/jobs/plan.ts';
import { playRound } from '../../packages/verify/src/jobs/round.ts';
import { Upstreams } from '../../packages/verify/src/jobs/upstreams.ts';
import { History } from '../../packages/verify/src/run.ts';
import type { Server } from '../../packages/verify/src/server.ts';
import { World } from '../../packages/verify/src/world.ts';
import { type Bug, type Caught, catchBugs, type Hunt, type Stage } from './planted.ts';

export const BUGS: readonly Bug<Plan>[] = [
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
        to: `  for (const [, endings, now] of later.splice(0)) await deps.db.transaction((tx) => endAll(tx, endings, now));
          return ends.map(() => undefined);`,
      },
    ],
    plan: aimedPlan('kill', 'job.end.succeeded.after-commit', 'pictures'),
  },
  {
    name: 'writes an attempt down after its call',
    edits: [
      {
        file: 'jobs/dispatch.ts',
        from: 'await engine.queue.save(current, { attempts: newAttempts(engine, current, turn.candidate) });',
        to: '{ ...current, attempts: [...current.attempts, ...newAttempts(engine, current, turn.candidate)] };',
      },
    ],
    plan: aimedPlan('kill', 'job.dispatch.after-call', 'singles'),
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
    plan: aimedPlan('kill', 'job.dispatch.after-call', 'singles'),
  },
  {
    name: 'saves without a look at the fence',
    edits: [
      {
        file: 'jobs/queue-store.ts',
        from: 'and open_jobs.fence = step.fence\n    returning',
        to: 'returning',
      },
    ],
    plan: aimedPlan('halt', 'job.dispatch.after-commit', 'refused, then endless'),
  },
  {
    name: 'deletes an object after its row',
    edits: [
      {
        file: 'objects/clean-up.ts',
        from: "killPoint(log, 'object.clean-up.before-delete');",
        to: "await forgetObjects(db, keys, now); killPoint(log, 'object.clean-up.before-delete');",
      },
    ],
    plan: aimedPlan('kill', 'object.clean-up.before-delete', 'edit'),
  },
  {
    name: 'binds a key in a second transaction after the admission',
    edits: [
      {
        file: 'jobs/admission.ts',
        from: 'await bindKeys(tx, boundKeys(members, now));',
        to: 'boundLater.push(boundKeys(members, now));',
      },
      {
        file: 'jobs/admission.ts',
        from: 'type Verdict = ',
        to: `export const boundLater: Parameters<typeof bindKeys>[1][] = [];
          export { bindKeys };
          type Verdict = `,
      },
      {
        file: 'jobs/create.ts',
        from: 'await deps.admitJob({ ...applicant, key, claim });',
        to: `await deps.admitJob({ ...applicant, key, claim });
          for (const bound of boundLater.splice(0)) await deps.db.transaction((tx) => bindKeys(tx, bound));`,
      },
      {
        file: 'jobs/create.ts',
        from: 'type JobApplicant, judgeKnown }',
        to: 'type JobApplicant, judgeKnown, boundLater, bindKeys }',
      },
    ],
    plan: aimedPlan('kill', 'job.admission.after-commit', 'pictures'),
  },
];

const STAGE: Stage<Upstreams, Plan> = {
  open: async (server, name, edits) => World.open(server, name, await Upstreams.start(), edits),
  play: async (world, seed, plan) => (await playRound(world, new History(), seed, { plan })).findings,
};

export function catchPlanted(server: Server, asked: Hunt): Promise<readonly Caught[]> {
  return catchBugs(server, BUGS, STAGE, asked);
}
