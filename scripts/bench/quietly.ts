import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { Row } from './table.ts';

/** Of the processors' time. A server that has none for a moment keeps all its callers waiting. */
const STOLEN_SHARE_MAX = 0.02;
/** A processor that is slower is so for all servers that are compared. */
const SLOWED_SHARE_MAX = 0.2;
/** What all measurements of a run together may wait for others on the host, who come in waves, and measure in vain. */
const PATIENCE_MS = 15 * 60_000;
const LOOK_EVERY_MS = 1_000;
/** A digest of this takes some milliseconds, always as many on a processor of one's own. */
const WORK = Buffer.alloc(4 * 1024 * 1024);
const WORK_TRIES = 5;

export interface Quiet<Figures> {
  readonly figures: Figures;
  /** By others on the host of a virtual machine; with more than 1 it tells about them. */
  readonly disturbance: number;
}

let patienceMs = PATIENCE_MS;
let quickestWorkMs = Number.POSITIVE_INFINITY;

/** Measures when the host leaves the processors to us, again if it then took them away, and answers with the quietest. */
export async function quietly<Figures>(measure: () => Promise<Figures>): Promise<Quiet<Figures>> {
  await calm();
  let quietest = await watched(measure);
  while (quietest.disturbance > 1 && patienceMs > 0) {
    await calm();
    const next = await withinPatience(() => watched(measure));
    if (next.disturbance < quietest.disturbance) quietest = next;
  }
  return quietest;
}

/** For the table: how far to trust the others. */
export function disturbedRow(of: string, rounds: readonly Quiet<unknown>[]): Row {
  const disturbed = rounds.filter(({ disturbance }) => disturbance > 1).length;
  const measure = `${of}: rounds, of ${rounds.length}, in which others on the machine's host took part of the processors`;
  return { measure, bare: undefined, tollgate: disturbed, ratio: '', goal: '0' };
}

async function calm(): Promise<void> {
  const look = () => watched(() => setTimeout(LOOK_EVERY_MS));
  while (patienceMs > 0 && (await withinPatience(look)).disturbance > 1);
}

async function withinPatience<Result>(wait: () => Promise<Result>): Promise<Result> {
  const startMs = performance.now();
  try {
    return await wait();
  } finally {
    patienceMs -= performance.now() - startMs;
  }
}

async function watched<Figures>(measure: () => Promise<Figures>): Promise<Quiet<Figures>> {
  const before = processorTime();
  const figures = await measure();
  const after = processorTime();
  const stolenShare = (after.stolen - before.stolen) / (after.all - before.all || 1);
  const slowedShare = 1 - speed();
  return { figures, disturbance: Math.max(stolenShare / STOLEN_SHARE_MAX, slowedShare / SLOWED_SHARE_MAX) };
}

/**
 * Compared with the highest that was ever seen. Who has the other half of the same core slows us down, and no counter tells:
 * only that the same work takes longer.
 */
function speed(): number {
  let workMs = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < WORK_TRIES; tries++) workMs = Math.min(workMs, msOfWork());
  quickestWorkMs = Math.min(quickestWorkMs, workMs);
  return quickestWorkMs / workMs;
}

function msOfWork(): number {
  const startMs = performance.now();
  hash('sha256', WORK);
  return performance.now() - startMs;
}

/** Of all processors since the machine was started. Only Linux tells; elsewhere nothing seems to be stolen. */
function processorTime(): { readonly all: number; readonly stolen: number } {
  if (process.platform !== 'linux') return { all: 0, stolen: 0 };
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  // user, nice, system, idle, iowait, irq, softirq, steal; those that follow are counted among these.
  const times = line.split(/\s+/).slice(1, 9).map(Number);
  return { all: times.reduce((sum, time) => sum + time, 0), stolen: times[7] ?? 0 };
}
