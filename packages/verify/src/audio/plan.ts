// What happens in a round of chaos for sound: who is hit where, what clients ask for meanwhile, and how time passes.
import type { KillPoint } from '../../../../src/kill-point.ts';
import type { Blow, Outside, Wave } from '../blows.ts';
import { type BlowKind, isAimed, type Terms } from '../fault-kinds.ts';
import type { Random } from '../random.ts';
import { FATES, type Fate, GOOD } from './load.ts';

export const WITHHELD_ANSWER = 'an upstream withholds its answer' satisfies Outside;
export const WITHHELD_POLL = 'an upstream withholds the state of a task' satisfies Outside;
export const WITHHELD_SPEECH = 'an upstream withholds half of a speech' satisfies Outside;

const HEARD: readonly Fate[] = ['heard', 'task'];
const LONG: readonly Fate[] = ['heard at length', 'task at length'];
const SUBMITTED = 'transcription.submit.before-call';
const SAVED = 'transcription.submit.after-commit';

interface Point {
  /** What must be asked for to get there. */
  readonly fates: readonly Fate[];
  /** Where the other gateway is killed first. */
  readonly loss?: KillPoint;
  /** Either gateway may come to it, also the one that was not called. */
  readonly isDuty?: true;
  /** Only when time passes by the month. */
  readonly isLate?: true;
}

/** Where the program can be hit. */
export const POINTS: Readonly<Partial<Record<KillPoint | Outside, Point>>> = {
  'object.input.before-store': { fates: LONG },
  'object.input.after-store': { fates: LONG },
  'transcription.admission.before-commit': { fates: HEARD },
  'transcription.admission.after-commit': { fates: HEARD },
  [SUBMITTED]: { fates: [...HEARD, 'refused and heard elsewhere'] },
  [WITHHELD_ANSWER]: { fates: ['held', 'task held'] },
  'transcription.submit.after-call': { fates: [...HEARD, 'refused and heard elsewhere', 'accepted and reset'] },
  [SAVED]: { fates: ['task', 'endless', 'failed'] },
  [WITHHELD_POLL]: { fates: ['asking held'] },
  'transcription.poll.after-call': { fates: ['task', 'failed'] },
  'transcription.end.completed.before-commit': { fates: HEARD },
  'transcription.end.completed.after-commit': { fates: HEARD },
  'transcription.answer.before-send': { fates: HEARD },
  'transcription.end.failed.before-commit': { fates: ['rejected', 'failed', 'nothing heard'] },
  'transcription.end.failed.after-commit': { fates: ['rejected', 'failed', 'nothing heard'] },
  'transcription.end.unavailable.before-commit': { fates: HEARD, loss: SUBMITTED },
  'transcription.end.unavailable.after-commit': { fates: HEARD, loss: SUBMITTED },
  'transcription.take-over.after-commit': { fates: ['task'], loss: SAVED },
  'transcription.resume.after-call': { fates: ['task'], loss: SAVED },
  'object.clean-up.before-delete': { fates: LONG, isDuty: true },
  'object.clean-up.after-delete': { fates: LONG, isDuty: true },
  'object.clean-up.after-commit': { fates: LONG, isDuty: true },
  'transcription.expiry.before-commit': { fates: HEARD, isDuty: true, isLate: true },
  'transcription.expiry.after-commit': { fates: HEARD, isDuty: true, isLate: true },
  [WITHHELD_SPEECH]: { fates: ['speech held'] },
  'upstream.attempt.after-call': { fates: ['spoken', 'spoken by link', 'refused and spoken elsewhere'] },
  'speech.result.before-store': { fates: ['spoken by link'] },
  'speech.result.after-store': { fates: ['spoken by link'] },
};

export interface AudioWave extends Wave<Fate> {
  /** Sent to the one that is to be hit. */
  readonly aimed: readonly Fate[];
  /** Everything that was asked for has ended before the blow is waited for. */
  readonly isLate: boolean;
}

export interface Plan {
  readonly waves: readonly AudioWave[];
}

/** Two steps of this are longer than any lease, and one is shorter: no living process loses its lease. */
export const LEASE_SECONDS = 16;
const STEP_SECONDS = 3;
/** Past the day on which transcripts go. */
const LATE_STEP_SECONDS = 31 * 24 * 60 * 60;
const PASSES = [0, 0, 0, 1, 2];
const WAVES_MAX = 3;
const AIMED_ORDERS = 6;

const TERMS: Terms = { weights: { kill: 66, halt: 12, stop: 12, 'kill the database': 10 }, hasBadUpstreams: true };

export function makePlan(random: Random, terms: Terms = TERMS): Plan {
  return { waves: Array.from({ length: random.whole(1, WAVES_MAX) }, () => makeWave(random, terms)) };
}

function makeWave(random: Random, terms: Terms): AudioWave {
  const blow = makeBlow(random, terms);
  const fates = terms.hasBadUpstreams ? FATES : GOOD;
  const needed = (pointOf(blow)?.fates ?? []).filter((fate) => fates.includes(fate));
  const wanted = needed.length === 0 ? [] : Array.from({ length: random.whole(1, 3) }, () => random.pick(needed));
  const others = Array.from({ length: random.whole(2, 6) }, () => random.pick(fates));
  const isAlone = blow.kind === 'kill' && random.chance(0.2);
  return waveOf(blow, wanted, others, isAlone);
}

function pointOf({ point }: Blow): Point | undefined {
  return point === undefined ? undefined : POINTS[point];
}

function makeBlow(random: Random, { weights, hasBadUpstreams }: Terms): Blow {
  const kind = random.weighted(weights as Readonly<Record<BlowKind, number>>);
  if (random.chance(0.1)) return { kind, point: undefined, passes: 0 };
  if (kind === 'kill the database' || kind === 'cut the database')
    return blowAt(kind, random.pick([WITHHELD_ANSWER, WITHHELD_POLL, WITHHELD_SPEECH]), 0);
  if (!isAimed(kind)) return { kind, point: undefined, passes: 0 };
  const points = (Object.keys(POINTS) as (KillPoint | Outside)[]).filter(
    (each) => hasBadUpstreams || POINTS[each]?.fates.some((fate) => GOOD.includes(fate)) === true,
  );
  const point = random.pick(points);
  return blowAt(kind, point, random.pick(PASSES));
}

function blowAt(kind: Blow['kind'], point: KillPoint | Outside, passes: number): Blow {
  const { loss, isDuty = false, isLate } = POINTS[point] ?? {};
  const isRare = loss !== undefined || isLate === true;
  return { kind, point, passes: isRare ? 0 : passes, loss, isForOne: !isDuty };
}

function waveOf(blow: Blow, aimed: readonly Fate[], fates: readonly Fate[], isAlone = false): AudioWave {
  const isLate = pointOf(blow)?.isLate === true;
  const stepSeconds = isLate ? LATE_STEP_SECONDS : blow.loss === undefined ? STEP_SECONDS : LEASE_SECONDS;
  return { blow, isAlone, aimed, fates, stepSeconds, isLate };
}

/** One blow at one point, with nothing but orders of this fate about. */
export function aimedPlan(kind: 'kill' | 'halt' | 'stop', point: KillPoint | Outside, fate: Fate): Plan {
  const aimed = Array.from({ length: AIMED_ORDERS }, () => fate);
  return { waves: [waveOf(blowAt(kind, point, 0), aimed, [])] };
}
