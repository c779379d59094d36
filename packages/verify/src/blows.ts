// What hits gateways and their database, and how time passes until it does.
import { setTimeout as sleep } from 'node:timers/promises';
import { KILL_POINTS, type KillPoint } from '../../../src/kill-point.ts';
import { type BlowKind, isAimed } from './fault-kinds.ts';
import type { FaultProxy } from './fault-proxy.ts';
import type { Gateway } from './gateways.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** Moments that an upstream knows of: it withholds an answer, a reading or the rest of a speech. */
export type Outside =
  | 'an upstream withholds its answer'
  | 'an upstream withholds the state of a task'
  | 'an upstream withholds half of a speech';

export interface Blow {
  readonly kind: BlowKind;
  /** Of the program, or, also for the database, a moment outside of it. Undefined: at any time. */
  readonly point: KillPoint | Outside | undefined;
  /** How often the point is passed before. */
  readonly passes: number;
  /** Where the other gateway is killed first, if the point is reached only after something was lost. */
  readonly loss?: KillPoint | undefined;
  /** Only one gateway is waited for: no other works on the same. Otherwise the first that reaches the point is hit. */
  readonly isForOne?: boolean;
}

/** A blow, and what clients ask for from the moment on that it is waited for. */
export interface Wave<Fate> {
  readonly blow: Blow;
  /** The other gateway is killed as well, so that there is none for a while. */
  readonly isAlone: boolean;
  readonly fates: readonly Fate[];
  /** In how large steps time passes until the blow has fallen. */
  readonly stepSeconds: number;
}

/** What a blow falls upon. */
export interface Scene {
  readonly world: World;
  /** Two steps of this are longer than any lease. */
  readonly leaseSeconds: number;
  /** Real time that the program is left after each step. */
  readonly pauseMs: number;
  /** Whether nothing is left to do. */
  readonly areDone: () => Promise<boolean>;
  /** Whether a moment outside of the program has come. */
  readonly outside: Readonly<Partial<Record<Outside, () => boolean>>>;
  /** Called when the database has just gone. */
  whileAway(): void;
}

export interface Struck {
  readonly killed: number;
  /** What was hit, and at which point if it came to it. */
  readonly hit: string;
}

const SIGNALS = { kill: 'SIGKILL', halt: 'SIGSTOP', stop: 'SIGTERM' } as const;

/** Time passes this many times at most before a blow that was to fall at a point falls at once. */
const STEPS_MAX = 12;
const IDLE_STEPS_MAX = 2;
const ANY_TIME_MS_MAX = 150;
/** How long an engine is away, in real time: shorter and longer than the gateways wait for it. */
const CUT_MS = [200, 1_000, 4_000];
const FULL_DISK_STEPS = 4;
const FULL_DISK_STEP_SECONDS = 3;
/** Past leases, past deadlines, past a day. */
const JUMP_SECONDS = [40, 700, 90_000];

export async function strike(scene: Scene, wave: Wave<unknown>, random: Random): Promise<Struck> {
  const { world } = scene;
  const { kind, point, loss } = wave.blow;
  const [one, other] = world.gateways.up;
  if (one === undefined || other === undefined) throw new Error('there is nobody to strike');
  const isAtPoint = await wait(scene, [one, other], wave, random);
  if (!isAimed(kind)) {
    await disturb(scene, kind, random);
    return { killed: kind === 'kill the database' ? 1 : 0, hit: isAtPoint ? `${kind} at ${point}` : kind };
  }
  // Where both have come to it, the one stands for both.
  const [victim, spared] = one.isUp && !other.isUp && loss === undefined ? [other, one] : [one, other];
  const hit = `${kind} at ${isAtPoint || !victim.isUp ? point : 'any time'}`;
  spared.goOn();
  if (kind === 'halt') await overtake(scene, victim);
  else if (kind === 'stop') await victim.stop();
  else await Promise.all([victim.kill(), wave.isAlone && spared.kill()]);
  const dead = [victim, spared].filter(({ isAlive }) => !isAlive).length;
  return { killed: kind === 'halt' ? dead + 1 : dead, hit };
}

/**
 * Lets time pass until one of them has come to the point, or there is nothing left for them to do. Tells whether it was
 * a point outside of the program, and it has come.
 */
async function wait(
  scene: Scene,
  [one, other]: readonly [Gateway, Gateway],
  { blow: { point, passes, kind, loss, isForOne = false }, stepSeconds }: Wave<unknown>,
  random: Random,
): Promise<boolean> {
  const { world, outside, pauseMs } = scene;
  if (point === undefined) {
    await sleep(random.whole(0, ANY_TIME_MS_MAX));
    return false;
  }
  const isOutside = isKillPoint(point) ? undefined : outside[point];
  if (isKillPoint(point) && isAimed(kind)) {
    const signal = SIGNALS[kind];
    one.order({ point, passes, signal });
    // What the one loses the other may look for, or it comes to the same point first.
    if (loss !== undefined) other.order({ point: loss, passes: 0, signal: 'SIGKILL' });
    else if (!isForOne) other.order({ point, passes, signal });
  }
  const isWaiting = () => one.isUp && (other.isUp || loss !== undefined) && isOutside?.() !== true;
  let idleSteps = 0;
  for (let step = 0; step < STEPS_MAX && idleSteps < IDLE_STEPS_MAX && isWaiting(); step++) {
    await world.move(stepSeconds);
    await sleep(pauseMs);
    if (await scene.areDone()) idleSteps++;
  }
  return isOutside?.() === true;
}

function isKillPoint(point: KillPoint | Outside): point is KillPoint {
  return (KILL_POINTS as readonly string[]).includes(point);
}

/** What hits everything but the gateways themselves. */
async function disturb(scene: Scene, kind: BlowKind, random: Random): Promise<void> {
  const { world } = scene;
  const { database, redis, disk } = world.faults;
  switch (kind) {
    case 'kill the database':
      return world.killDatabase(() => scene.whileAway());
    case 'cut the database':
      return cutFor(scene, database, random.pick(CUT_MS));
    case 'cut redis':
      return cutFor(scene, redis, random.pick(CUT_MS));
    case 'fill the disk':
      disk?.fill();
      for (let step = 0; step < FULL_DISK_STEPS; step++) {
        await world.move(FULL_DISK_STEP_SECONDS);
        await sleep(random.whole(0, ANY_TIME_MS_MAX));
      }
      disk?.free();
      return;
    case 'jump the clock':
      return world.moveForSure(random.pick(JUMP_SECONDS));
    case 'kill':
    case 'halt':
    case 'stop':
    case 'none':
      return;
  }
}

async function cutFor(scene: Scene, proxy: FaultProxy | undefined, milliseconds: number): Promise<void> {
  if (proxy === undefined) throw new Error('there is no proxy to cut');
  await proxy.cut();
  scene.whileAway();
  await sleep(milliseconds);
  await proxy.restore();
}

/** Time passes while the victim stands still, so that another process takes its work; then it goes on as if nothing was. */
async function overtake({ world, leaseSeconds }: Scene, victim: Gateway): Promise<void> {
  if (!victim.isAlive) return;
  victim.halt();
  // Where it was halted with the clock in its hands, time cannot pass without it.
  for (let step = 0, passes = true; step < 2 && passes; step++) passes = await world.move(leaseSeconds);
  victim.goOn();
}
