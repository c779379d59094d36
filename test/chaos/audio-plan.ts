// What happens in a round of chaos for sound: who is hit where, what clients ask for meanwhile, and how time passes.
import type { Random } from '../simulate/random.ts';
import { FATES, type Fate } from './audio-load.ts';
import type { Blow, Wave } from './blows.ts';

/** Points outside of the program. */
export const HELD_RECORDING = 'an answer that is held';
export const HELD_ASKING = 'a question that is held';
export const HELD_SPEECH = 'half of a speech';

const HEARD: readonly Fate[] = ['heard', 'task'];
const LONG: readonly Fate[] = ['heard at length', 'task at length'];
const SUBMITTED = 'transcription to be submitted';
const SAVED = 'transcription task saved';

interface Point {
  /** What must be asked for to get there. */
  readonly fates: readonly Fate[];
  /** Where the other gateway is killed first. */
  readonly loss?: string;
  /** Either gateway may come to it, also the one that was not called. */
  readonly isDuty?: true;
  /** Only when time passes by the month. */
  readonly isLate?: true;
}

/** Where the program can be hit: lines of its log, apart from the three above. */
export const POINTS: Readonly<Record<string, Point>> = {
  'input to be stored': { fates: LONG },
  'input stored': { fates: LONG },
  'transcription admission to be committed': { fates: HEARD },
  'transcription admission committed': { fates: HEARD },
  [SUBMITTED]: { fates: [...HEARD, 'refused and heard elsewhere'] },
  [HELD_RECORDING]: { fates: ['held', 'task held'] },
  'transcription submitted': { fates: [...HEARD, 'refused and heard elsewhere', 'accepted and reset'] },
  [SAVED]: { fates: ['task', 'endless', 'failed'] },
  [HELD_ASKING]: { fates: ['asking held'] },
  'transcription asked after': { fates: ['task', 'failed'] },
  'completed transcription to be committed': { fates: HEARD },
  'completed transcription committed': { fates: HEARD },
  'transcription to be answered': { fates: HEARD },
  'failed transcription to be committed': { fates: ['rejected', 'failed', 'nothing heard'] },
  'failed transcription committed': { fates: ['rejected', 'failed', 'nothing heard'] },
  'unavailable transcription to be committed': { fates: HEARD, loss: SUBMITTED },
  'unavailable transcription committed': { fates: HEARD, loss: SUBMITTED },
  'transcriptions taken over': { fates: ['task'], loss: SAVED },
  'resumed transcription has ended': { fates: ['task'], loss: SAVED },
  'objects to be deleted': { fates: LONG, isDuty: true },
  'objects deleted': { fates: LONG, isDuty: true },
  'objects forgotten': { fates: LONG, isDuty: true },
  'transcripts to be cleared': { fates: HEARD, isDuty: true, isLate: true },
  'transcripts cleared': { fates: HEARD, isDuty: true, isLate: true },
  [HELD_SPEECH]: { fates: ['speech held'] },
  attempt: { fates: ['spoken', 'spoken by link', 'refused and spoken elsewhere'] },
  'speech to be stored': { fates: ['spoken by link'] },
  'speech stored': { fates: ['spoken by link'] },
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

export function makePlan(random: Random): Plan {
  return { waves: Array.from({ length: random.whole(1, WAVES_MAX) }, () => makeWave(random)) };
}

function makeWave(random: Random): AudioWave {
  const blow = makeBlow(random);
  const { fates: needed = [] } = POINTS[blow.point ?? ''] ?? {};
  const wanted = needed.length === 0 ? [] : Array.from({ length: random.whole(1, 3) }, () => random.pick(needed));
  const others = Array.from({ length: random.whole(2, 6) }, () => random.pick(FATES));
  const isAlone = blow.kind === 'kill' && random.chance(0.2);
  return waveOf(blow, wanted, others, isAlone);
}

function makeBlow(random: Random): Blow {
  const kind = random.weighted({ kill: 66, halt: 12, stop: 12, 'kill the database': 10 });
  if (random.chance(0.1)) return { kind, point: undefined, passes: 0 };
  if (kind === 'kill the database') return blowAt(kind, random.pick([HELD_RECORDING, HELD_ASKING, HELD_SPEECH]), 0);
  const point = random.pick(Object.keys(POINTS));
  return blowAt(kind, point, random.pick(PASSES));
}

function blowAt(kind: Blow['kind'], point: string, passes: number): Blow {
  const { loss, isDuty = false, isLate } = POINTS[point] ?? {};
  const isRare = loss !== undefined || isLate === true;
  return { kind, point, passes: isRare ? 0 : passes, loss, isForOne: !isDuty };
}

function waveOf(blow: Blow, aimed: readonly Fate[], fates: readonly Fate[], isAlone = false): AudioWave {
  const isLate = POINTS[blow.point ?? '']?.isLate === true;
  const stepSeconds = isLate ? LATE_STEP_SECONDS : blow.loss === undefined ? STEP_SECONDS : LEASE_SECONDS;
  return { blow, isAlone, aimed, fates, stepSeconds, isLate };
}

/** One blow at one point, with nothing but orders of this fate about. */
export function aimedPlan(kind: 'kill' | 'halt' | 'stop', point: string, fate: Fate): Plan {
  const aimed = Array.from({ length: AIMED_ORDERS }, () => fate);
  return { waves: [waveOf(blowAt(kind, point, 0), aimed, [])] };
}
