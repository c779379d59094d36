import type { LoggedRequestDetail } from '../../api/schema.ts';
import { type Decimal, decimalOf, perThousand, plus, times } from '../../kit/decimal.ts';

export type ReceiptView = NonNullable<LoggedRequestDetail['receipt']>;
type Factors = NonNullable<ReceiptView['factors']>;

const UNITS = [
  'images',
  'requests',
  'seconds',
  'characters',
  'input_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
] as const;
const RATIO_MAPS = ['size_ratio', 'quality_ratio', 'resolution_ratio', 'flag_ratio'] as const;

/** A charge as a calculation on paper: every intermediate result is exact. */
export interface Calculation {
  readonly units: readonly {
    readonly unit: (typeof UNITS)[number] | 'other';
    readonly count: Decimal;
    readonly per: number;
    readonly rate: Decimal;
    readonly credits: Decimal;
  }[];
  readonly subtotal: Decimal;
  readonly ratios: readonly {
    readonly map: (typeof RATIO_MAPS)[number] | 'other';
    readonly choice: string;
    readonly ratio: Decimal;
    /** What it comes to with this ratio and those before. */
    readonly credits: Decimal;
  }[];
  /** Undefined where nothing is charged once. */
  readonly once: Decimal | undefined;
  /** Before it is rounded to a millionth. */
  readonly total: Decimal;
}

export function calculationOf({ units, ratios, once }: Factors): Calculation {
  const counted = units.map(countedUnit);
  const subtotal = counted.reduce((sum, { credits }) => plus(sum, credits), decimalOf(0));
  let credits = subtotal;
  const multiplied = ratios.map(({ map, key, ratio }) => {
    credits = times(credits, decimalOf(ratio));
    return {
      map: RATIO_MAPS.find((known) => known === map) ?? ('other' as const),
      choice: key,
      ratio: decimalOf(ratio),
      credits,
    };
  });
  return {
    units: counted,
    subtotal,
    ratios: multiplied,
    once: once === 0 ? undefined : decimalOf(once),
    total: plus(credits, decimalOf(once)),
  };
}

/** Milliseconds are told as seconds, for which their rate is written. */
function countedUnit({ unit, count, per, rate }: Factors['units'][number]): Calculation['units'][number] {
  const isTime = unit === 'milliseconds' && per === 1000;
  const exactCount = isTime ? perThousand(decimalOf(count)) : decimalOf(count);
  const shownPer = isTime ? 1 : per;
  const share = shownPer === 1000 ? perThousand(exactCount) : exactCount;
  return {
    unit: isTime ? 'seconds' : (UNITS.find((known) => known === unit) ?? 'other'),
    count: exactCount,
    per: shownPer,
    rate: decimalOf(rate),
    credits: times(share, decimalOf(rate)),
  };
}
