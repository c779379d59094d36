// What happens in a round: who is hit where, what clients ask for meanwhile, and how time passes.
import type { KillPoint } from '../../../../src/kill-point.ts';
import type { Blow, Wave } from '../blows.ts';
import { type BlowKind, isAimed, type Terms } from '../fault-kinds.ts';
import type { Random } from '../random.ts';
import { FATES, type Fate } from './load.ts';

/** Where the program can be hit, and what must be asked for to get there. */
export const POINTS = {
  'job.admission.before-commit': ['pictures', 'clip'],
  'job.admission.after-commit': ['pictures', 'clip'],
  'job.claim.before-commit': ['edit'],
  'job.claim.after-commit': ['edit'],
  'object.input.before-store': ['edit'],
  'object.input.after-store': ['edit'],
  'job.dispatch.before-call': ['pictures', 'tasks', 'singles', 'edit'],
  'job.dispatch.after-call': ['pictures', 'tasks', 'singles', 'clip'],
  'job.dispatch.after-commit': ['tasks', 'singles', 'refused and done elsewhere', 'refused, then endless'],
  'job.recover.after-call': ['pictures', 'tasks'],
  'job.poll.after-call': ['tasks', 'clip'],
  'job.collect.before-store': ['pictures', 'tasks', 'singles'],
  'job.collect.after-store': ['pictures', 'tasks', 'singles', 'answered with addresses'],
  'job.end.succeeded.before-commit': ['pictures', 'tasks', 'singles', 'clip'],
  'job.end.succeeded.after-commit': ['pictures', 'tasks', 'singles', 'clip'],
  'job.end.failed.before-commit': ['rejected', 'failed', 'accepted and reset'],
  'job.end.failed.after-commit': ['rejected', 'failed', 'accepted and reset'],
  'job.end.queue_expired.before-commit': ['nobody there'],
  'job.end.queue_expired.after-commit': ['nobody there'],
  'object.clean-up.before-delete': ['edit', 'failed'],
  'object.clean-up.after-delete': ['edit', 'failed'],
  'object.clean-up.after-commit': ['edit', 'failed'],
} as const satisfies Partial<Record<KillPoint, readonly Fate[]>>;

type Point = keyof typeof POINTS;

export interface Plan {
  readonly waves: readonly Wave<Fate>[];
  /** How long the world is left alone in the end, in days; what was stored may have gone by then. */
  readonly restDays: number;
}

/** Two steps of this are longer than the lease on a job. */
export const LEASE_SECONDS = 11;
const STEP_SECONDS = 3;
/** Past the time in which an upstream must be found. */
const EXPIRY_STEP_SECONDS = 320;
const PASSES = [0, 0, 0, 1, 2];
const WAVES_MAX = 3;
const AIMED_ORDERS = 8;

const TERMS: Terms = { weights: { kill: 80, halt: 14, 'kill the database': 6 }, hasBadUpstreams: true };
/** Nothing goes wrong with these but what a blow does. */
const GOOD: readonly Fate[] = ['pictures', 'edit', 'tasks', 'singles', 'clip'];

export function makePlan(random: Random, terms: Terms = TERMS): Plan {
  const waves = Array.from({ length: random.whole(1, WAVES_MAX) }, () => makeWave(random, terms));
  return { waves, restDays: random.chance(0.1) ? random.pick([1, 16, 31]) : 0 };
}

type JobBlow = Blow & { readonly point: Point | undefined };

function makeWave(random: Random, terms: Terms): Wave<Fate> {
  const blow = makeBlow(random, terms);
  const fates = terms.hasBadUpstreams ? FATES : GOOD;
  const needed = blow.point === undefined ? [] : fatesAt(blow.point, fates);
  const wanted = needed.length === 0 ? [] : Array.from({ length: random.whole(1, 3) }, () => random.pick(needed));
  const others = Array.from({ length: random.whole(1, 4) }, () => random.pick(fates));
  return {
    blow,
    isAlone: blow.kind === 'kill' && random.chance(0.25),
    fates: [...wanted, ...others],
    stepSeconds: stepOf(blow),
  };
}

function stepOf({ point, loss }: Blow): number {
  if (loss !== undefined) return LEASE_SECONDS;
  return point?.startsWith('job.end.queue_expired') === true ? EXPIRY_STEP_SECONDS : STEP_SECONDS;
}

/** One blow at one point, with nothing but orders of this fate about. */
export function aimedPlan(kind: 'kill' | 'halt', point: Point, fate: Fate): Plan {
  const blow = { kind, point, passes: 0 };
  const fates = Array.from({ length: AIMED_ORDERS }, () => fate);
  return { waves: [{ blow, isAlone: false, fates, stepSeconds: STEP_SECONDS }], restDays: 0 };
}

/** What leads to a point, of what may be asked for. */
function fatesAt(point: Point, fates: readonly Fate[]): readonly Fate[] {
  return POINTS[point].filter((fate) => fates.includes(fate));
}

function makeBlow(random: Random, { weights, hasBadUpstreams }: Terms): JobBlow {
  const kind = random.weighted(weights as Readonly<Record<BlowKind, number>>);
  const isAnyTime = !isAimed(kind) || random.chance(0.1);
  if (isAnyTime) return { kind, point: undefined, passes: 0 };
  const points = (Object.keys(POINTS) as Point[]).filter((each) => hasBadUpstreams || fatesAt(each, GOOD).length > 0);
  const point = random.pick(points);
  // A lost call is looked for only if there is one.
  const loss = point === 'job.recover.after-call' ? 'job.dispatch.after-call' : undefined;
  return { kind, point, passes: random.pick(PASSES), loss };
}
