// What speech may have cost, by what came of it.

import { faultsOfPayment } from '../books.ts';
import type { Evidence, Told } from './evidence.ts';
import type { Order } from './load.ts';
import { secondsIn, soundNamed, textNamed } from './sounds.ts';
import { CREDITS_PER_CHARACTER, CREDITS_PER_SECOND } from './upstreams.ts';

const MICRO = 1_000_000;
/** Lengths are charged by the millisecond. */
const MILLISECOND_MICRO = BigInt((CREDITS_PER_SECOND * MICRO) / 1000);

export function faultsOfSpeech({ outcomes, holds, entries }: Evidence): string[] {
  return outcomes
    .filter(({ order }) => order.kind === 'speech')
    .flatMap((outcome) => {
      const { name } = outcome.order;
      const [hold, second] = holds.filter(({ requestId }) => requestId === name);
      if (second !== undefined) return [`${name} was held twice`];
      if (hold === undefined) return outcome.status === 200 ? [`${name} was spoken for nothing`] : [];
      const own = entries.filter(({ reservationId }) => reservationId === hold.id);
      const end = own.find(({ type }) => type !== 'reserve');
      // Whatever it came to, it was ended once, and gave the rest back.
      const findings = faultsOfPayment(name, own, end?.type === 'settle' ? end.charged : undefined);
      if (end !== undefined && !isFair(outcome, end.charged)) {
        const cost = `${end.charged} of ${wholeCost(outcome.order)}`;
        findings.push(`${name} cost ${cost}, for ${outcome.status} and ${outcome.bytes.length} bytes`);
      }
      return findings;
    });
}

/** All that was delivered is charged at what it costs, a part at no more than that, and what failed at nothing. */
function isFair(outcome: Told, charged: bigint): boolean {
  const { order, status, isWhole, isDisturbed, bytes } = outcome;
  const whole = wholeCost(order);
  // A process that was taken for dead has had its reservations refunded.
  if (charged === 0n && isDisturbed) return true;
  if (status !== undefined && status !== 200) return charged === 0n;
  if (status === 200 && isWhole) return charged === whole && charged === chargeTold(outcome) && isSound(outcome);
  if (charged === 0n) return true;
  const least = order.by === 'link' || isByCharacter(order) ? whole : costOf(secondsIn(bytes.length));
  return charged <= whole && charged >= least - MILLISECOND_MICRO;
}

function isSound({ order, bytes }: Told): boolean {
  return order.by === 'link' || bytes.equals(soundNamed(order.name, order.seconds));
}

function chargeTold({ order, headers, trailers, bytes }: Told): bigint {
  const inHead = headers['x-credits-charged'] ?? trailers['x-credits-charged'];
  const credits = order.by === 'link' ? JSON.parse(bytes.toString()).usage.credits : inHead;
  return BigInt(Math.round(Number(credits) * MICRO));
}

function wholeCost(order: Order): bigint {
  if (!isByCharacter(order)) return costOf(order.seconds);
  return BigInt(textNamed(order.name).length * CREDITS_PER_CHARACTER * MICRO);
}

function isByCharacter({ model }: Order): boolean {
  return model.endsWith('by-character');
}

function costOf(seconds: number): bigint {
  return BigInt(Math.round(seconds * CREDITS_PER_SECOND * MICRO));
}
