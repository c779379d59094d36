// Which faults a campaign injects, as an operator names them, and how often each.

export const FAULT_KINDS = ['kill', 'pause', 'stop', 'database', 'redis', 'disk', 'clock', 'upstream'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Kinds that hit a gateway are aimed at a kill point; the others fall at any time. */
export type BlowKind =
  | 'kill'
  | 'halt'
  | 'stop'
  | 'kill the database'
  | 'cut the database'
  | 'cut redis'
  | 'fill the disk'
  | 'jump the clock'
  | 'none';

type Weights = Readonly<Partial<Record<BlowKind, number>>>;

/** What may fall on a deployment, and whether its upstreams are slow, break off and lie. */
export interface Terms {
  readonly weights: Weights;
  readonly hasBadUpstreams: boolean;
}

const WEIGHTS: Readonly<Record<Exclude<FaultKind, 'upstream'>, Weights>> = {
  kill: { kill: 60 },
  pause: { halt: 12 },
  stop: { stop: 8 },
  database: { 'kill the database': 6, 'cut the database': 8 },
  redis: { 'cut redis': 6 },
  disk: { 'fill the disk': 6 },
  clock: { 'jump the clock': 6 },
};

/** `canKillDatabase`: the server is the campaign's own. */
export function termsOf(kinds: readonly FaultKind[], canKillDatabase: boolean): Terms {
  const weights: Partial<Record<BlowKind, number>> = Object.assign(
    {},
    ...kinds.map((kind) => (kind === 'upstream' ? {} : WEIGHTS[kind])),
  );
  if (!canKillDatabase) delete weights['kill the database'];
  if (Object.keys(weights).length === 0) weights.none = 1;
  return { weights, hasBadUpstreams: kinds.includes('upstream') };
}

export function isAimed(kind: BlowKind): kind is 'kill' | 'halt' | 'stop' {
  return kind === 'kill' || kind === 'halt' || kind === 'stop';
}

/** Whether the gateways have lost an engine for a while, and may complain of it. */
export function isOutage(kind: BlowKind): boolean {
  return !isAimed(kind) && kind !== 'jump the clock' && kind !== 'none';
}
