import { isWrittenNumber, type JsonObject } from '../../../src/json.ts';

/** A number that a schema allows, as near to the wanted one as can be; `wanted` begins with the least that is allowed. */
export function numberWithin(
  schema: JsonObject,
  isInteger: boolean,
  wanted: (least: number | undefined) => number,
): number {
  const [least, isAbove] = boundOf(schema, 'minimum', 'exclusiveMinimum', Math.max);
  const [most, isBelow] = boundOf(schema, 'maximum', 'exclusiveMaximum', Math.min);
  const start = Number.isFinite(least) ? least : undefined;
  const value = Math.max(Math.min(wanted(start ?? (Number.isFinite(most) ? most - 10 : undefined)), most), least);
  const step = stepOf(schema, isInteger);
  if (step === 0) return inside(value, { least, isAbove, most, isBelow });
  // Counted in steps; a bound that is a step itself is left out where it is excluded.
  const first = isAbove ? Math.floor(least / step + ROUNDING) + 1 : Math.ceil(least / step - ROUNDING);
  const last = isBelow ? Math.ceil(most / step - ROUNDING) - 1 : Math.floor(most / step + ROUNDING);
  const count = Math.max(Math.min(Math.round(value / step), last), first);
  return Number((count * step).toPrecision(12));
}

const ROUNDING = 1e-9;

interface Range {
  readonly least: number;
  readonly isAbove: boolean;
  readonly most: number;
  readonly isBelow: boolean;
}

function inside(value: number, { least, isAbove, most, isBelow }: Range): number {
  const isOut = (isAbove && value <= least) || (isBelow && value >= most);
  if (!isOut) return value;
  if (Number.isFinite(least) && Number.isFinite(most)) return (least + most) / 2;
  return Number.isFinite(least) ? least + 1 : most - 1;
}

/** The stricter of both bounds, and whether it is excluded. An older dialect says that with a flag. */
function boundOf(
  schema: JsonObject,
  plain: string,
  exclusive: string,
  stricter: (...values: number[]) => number,
): readonly [number, boolean] {
  const none = stricter();
  const [included, excluded] = [numberAt(schema, plain) ?? none, numberAt(schema, exclusive) ?? none];
  if (schema[exclusive] === true) return [included, true];
  const bound = stricter(included, excluded);
  return [bound, bound === excluded && excluded !== none];
}

/** The least that every value is a multiple of; 0 for none. */
function stepOf(schema: JsonObject, isInteger: boolean): number {
  const step = Math.abs(numberAt(schema, 'multipleOf') ?? 0);
  if (!isInteger || Number.isInteger(step)) return step === 0 && isInteger ? 1 : step;
  const whole = Array.from({ length: 1000 }, (_, at) => step * (at + 1)).find(
    (sum) => Math.abs(sum - Math.round(sum)) < ROUNDING,
  );
  return whole === undefined ? 1 : Math.round(whole);
}

export function numberAt(schema: JsonObject, key: string): number | undefined {
  const value: unknown = schema[key];
  // The native format writes 64-bit numbers as strings; others are kept as they were written.
  const number =
    typeof value === 'string' ? Number(value) : isWrittenNumber(value) ? Number(JSON.stringify(value)) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}
