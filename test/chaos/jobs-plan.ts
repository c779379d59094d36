// What happens in a round: who is hit where, what clients ask for meanwhile, and how time passes.
import type { Random } from '../simulate/random.ts';
import type { Blow, Wave } from './blows.ts';
import { FATES, type Fate } from './jobs-load.ts';

/** Lines of the program's log at which it can be hit, and what must be asked for to get there. */
export const POINTS: Readonly<Record<string, readonly Fate[]>> = {
  'admission to be committed': ['pictures', 'clip'],
  'admission committed': ['pictures', 'clip'],
  'key to be claimed': ['edit'],
  'key claimed': ['edit'],
  'input to be stored': ['edit'],
  'input stored': ['edit'],
  'calls written down': ['pictures', 'tasks', 'singles', 'edit'],
  'calls answered': ['pictures', 'tasks', 'singles', 'clip'],
  'answers written down': ['tasks', 'singles', 'refused and done elsewhere', 'refused, then endless'],
  'lost calls looked for': ['pictures', 'tasks'],
  'tasks asked after': ['tasks', 'clip'],
  'result to be stored': ['pictures', 'tasks', 'singles'],
  'result stored': ['pictures', 'tasks', 'singles', 'answered with addresses'],
  'succeeded to be committed': ['pictures', 'tasks', 'singles', 'clip'],
  'succeeded committed': ['pictures', 'tasks', 'singles', 'clip'],
  'failed to be committed': ['rejected', 'failed', 'accepted and reset'],
  'failed committed': ['rejected', 'failed', 'accepted and reset'],
  'queue_expired to be committed': ['nobody there'],
  'queue_expired committed': ['nobody there'],
  'objects to be deleted': ['edit', 'failed'],
  'objects deleted': ['edit', 'failed'],
  'objects forgotten': ['edit', 'failed'],
};

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

export function makePlan(random: Random): Plan {
  const waves = Array.from({ length: random.whole(1, WAVES_MAX) }, () => makeWave(random));
  return { waves, restDays: random.chance(0.1) ? random.pick([1, 16, 31]) : 0 };
}

function makeWave(random: Random): Wave<Fate> {
  const blow = makeBlow(random);
  const needed = POINTS[blow.point ?? ''] ?? [];
  const wanted = needed.length === 0 ? [] : Array.from({ length: random.whole(1, 3) }, () => random.pick(needed));
  const others = Array.from({ length: random.whole(1, 4) }, () => random.pick(FATES));
  return {
    blow,
    isAlone: blow.kind === 'kill' && random.chance(0.25),
    fates: [...wanted, ...others],
    stepSeconds: stepOf(blow),
  };
}

function stepOf({ point, loss }: Blow): number {
  if (loss !== undefined) return LEASE_SECONDS;
  return point?.startsWith('queue_expired') === true ? EXPIRY_STEP_SECONDS : STEP_SECONDS;
}

/** One blow at one point, with nothing but orders of this fate about. */
export function aimedPlan(kind: 'kill' | 'halt', point: string, fate: Fate): Plan {
  const blow = { kind, point, passes: 0 };
  const fates = Array.from({ length: AIMED_ORDERS }, () => fate);
  return { waves: [{ blow, isAlone: false, fates, stepSeconds: STEP_SECONDS }], restDays: 0 };
}

function makeBlow(random: Random): Blow {
  const kind = random.weighted({ kill: 80, halt: 14, 'kill the database': 6 });
  const isAnyTime = kind === 'kill the database' || random.chance(0.1);
  if (isAnyTime) return { kind, point: undefined, passes: 0 };
  const point = random.pick(Object.keys(POINTS));
  // A lost call is looked for only if there is one.
  const loss = point === 'lost calls looked for' ? 'calls answered' : undefined;
  return { kind, point, passes: random.pick(PASSES), loss };
}
