/** Exact decimal arithmetic, for calculations that a reader follows line by line. */
export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/** Of a number as JSON writes it, `2e-7` included. */
export function decimalOf(value: number): Decimal {
  const [mantissa = '0', exponent = '0'] = String(value).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  const scale = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

export function times(left: Decimal, right: Decimal): Decimal {
  return { digits: left.digits * right.digits, scale: left.scale + right.scale };
}

export function plus(left: Decimal, right: Decimal): Decimal {
  const scale = Math.max(left.scale, right.scale);
  return { digits: digitsAt(left, scale) + digitsAt(right, scale), scale };
}

/** Divided by a power of ten. */
export function perThousand(value: Decimal): Decimal {
  return { ...value, scale: value.scale + 3 };
}

export function isEqual(left: Decimal, right: Decimal): boolean {
  const scale = Math.max(left.scale, right.scale);
  return digitsAt(left, scale) === digitsAt(right, scale);
}

/** Every digit and no needless zero, as `Intl.NumberFormat` takes it without loss. */
export function decimalText({ digits, scale }: Decimal): Intl.StringNumericLiteral {
  const sign = digits < 0n ? '-' : '';
  const padded = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0');
  const fraction = scale === 0 ? '' : padded.slice(-scale).replace(/0+$/, '');
  const whole = scale === 0 ? padded : padded.slice(0, -scale);
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}` as Intl.StringNumericLiteral;
}

function digitsAt({ digits, scale }: Decimal, wanted: number): bigint {
  return digits * 10n ** BigInt(wanted - scale);
}
