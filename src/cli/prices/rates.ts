import { type Decimal, MICRO_PER_CREDIT, type MicroCredits } from '../../credits.ts';

/** What becomes of a price in USD. */
export interface Terms {
  /** What is added to what the upstream takes, in percent of it. */
  readonly marginPercent: Decimal;
  /** What one credit is worth. */
  readonly creditUsd: Decimal;
}

/** The rate of so many units at a price in USD each, with the margin, rounded up to the micro-credit. */
export function toRate(usd: Decimal, units: bigint, { marginPercent, creditUsd }: Terms): MicroCredits {
  const hundred = 100n * powerOf(marginPercent.scale);
  const dividend = usd.digits * units * (hundred + marginPercent.digits) * powerOf(creditUsd.scale) * MICRO_PER_CREDIT;
  const divisor = powerOf(usd.scale) * hundred * creditUsd.digits;
  return (dividend + divisor - 1n) / divisor;
}

/** What so many units cost in USD at a rate, exactly and as it is written. */
export function toUsdText(rate: MicroCredits, units: bigint, { creditUsd }: Terms): string {
  const scale = creditUsd.scale + 6;
  const digits = String(rate * units * creditUsd.digits).padStart(scale + 1, '0');
  const fraction = digits.slice(-scale).replace(/0+$/, '');
  return fraction === '' ? digits.slice(0, -scale) : `${digits.slice(0, -scale)}.${fraction}`;
}

function powerOf(scale: number): bigint {
  return 10n ** BigInt(scale);
}
