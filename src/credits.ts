/** One credit is a million micro-credits; every amount inside is a bigint of those. */
export const MICRO_PER_CREDIT = 1_000_000n;

/** The most that any one amount may be: a thousand million credits, far below what a PostgreSQL bigint holds. */
export const AMOUNT_MICRO_MAX = 1_000_000_000n * MICRO_PER_CREDIT;

export type MicroCredits = bigint;

/**
 * An amount as it stands on the wire: a number with at most six decimals, the same value always printed the same
 * way. Exact for every amount up to AMOUNT_MICRO_MAX, because 10^15 micro-credits fit in a double's 53 bits.
 */
export function creditsToNumber(micro: MicroCredits): number {
  return Number(micro) / 1_000_000;
}

/** An amount of any size in exact decimals, for files that are added up elsewhere. */
export function creditsToText(micro: MicroCredits): string {
  const [sign, size] = micro < 0n ? ['-', -micro] : ['', micro];
  const fraction = String(size % MICRO_PER_CREDIT)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${sign}${size / MICRO_PER_CREDIT}${fraction && `.${fraction}`}`;
}

/** Reads an amount from the wire exactly as written, or returns undefined when it has more than six decimals. */
export function creditsFromNumber(credits: number): MicroCredits | undefined {
  const decimal = decimalFromNumber(credits, 6);
  return decimal === undefined ? undefined : BigInt(decimal.digits) * 10n ** BigInt(6 - decimal.scale);
}

/** `digits / 10^scale`, the number exactly as a person wrote it. */
export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/**
 * The shortest decimal that prints as this number, which is what the author wrote in JSON or YAML. Undefined when it
 * is not finite or needs more than `scaleMax` decimals.
 */
export function decimalFromNumber(value: number, scaleMax: number): Decimal | undefined {
  return Number.isFinite(value) ? decimalFromText(String(value), scaleMax) : undefined;
}

/** The exponents of doubles; a longer one would be written out in as many digits. */
const EXPONENT_MAX = 400;

/** A number of JSON exactly as it is written. Undefined where it is none, or has more than `scaleMax` decimals. */
export function decimalFromText(text: string, scaleMax: number): Decimal | undefined {
  const match = /^(-?\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text);
  if (match === null) return undefined;
  const [, whole = '0', fraction = '', exponent = '0'] = match;
  if (Math.abs(Number(exponent)) > EXPONENT_MAX) return undefined;
  const scale = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  if (scale <= 0) return { digits: digits * 10n ** BigInt(-scale), scale: 0 };
  return scale <= scaleMax ? { digits, scale } : undefined;
}
