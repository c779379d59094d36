/** What the vendor says of a field that it does not take. */
interface Complaint {
  readonly type: string;
  readonly msg: string;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

/** Looks at one field. `of` is never there: it holds the check to the type that the vendor declares. */
export interface Check<Type> {
  readonly look: (value: unknown) => Complaint | undefined;
  readonly of?: Type;
}

const checked = <Type>(isRight: (value: unknown) => boolean, complaint: Complaint): Check<Type> => ({
  look: (value) => (isRight(value) ? undefined : complaint),
});

export const text = checked<string>((value) => typeof value === 'string', {
  type: 'string_type',
  msg: 'Input should be a valid string',
});

export const flag = checked<boolean>((value) => typeof value === 'boolean', {
  type: 'bool_type',
  msg: 'Input should be a valid boolean',
});

export const whole = checked<number>((value) => Number.isInteger(value), {
  type: 'int_type',
  msg: 'Input should be a valid integer',
});

export const anything: Check<never> = { look: () => undefined };

export function textOf(charsMin: number, charsMax: number): Check<string> {
  return {
    look(value) {
      if (typeof value !== 'string') return text.look(value);
      if (value.length < charsMin) {
        return {
          type: 'string_too_short',
          msg: `String should have at least ${charsMin} characters`,
          ctx: { min_length: charsMin },
        };
      }
      if (value.length <= charsMax) return undefined;
      return {
        type: 'string_too_long',
        msg: `String should have at most ${charsMax} characters`,
        ctx: { max_length: charsMax },
      };
    },
  };
}

export function between(low: number, high: number): Check<number> {
  return {
    look(value) {
      if (typeof value !== 'number') return { type: 'float_type', msg: 'Input should be a valid number' };
      if (value < low) {
        return {
          type: 'greater_than_equal',
          msg: `Input should be greater than or equal to ${low}`,
          ctx: { ge: low },
        };
      }
      if (value <= high) return undefined;
      return { type: 'less_than_equal', msg: `Input should be less than or equal to ${high}`, ctx: { le: high } };
    },
  };
}

export function wholeBetween(low: number, high: number): Check<number> {
  return { look: (value) => whole.look(value) ?? between(low, high).look(value) };
}

export function oneOf<const Word extends string>(...words: readonly Word[]): Check<Word> {
  const expected = words.map((word) => `'${word}'`).join(', ');
  return checked<Word>((value) => words.some((word) => word === value), {
    type: 'literal_error',
    msg: `Input should be ${expected}`,
    ctx: { expected },
  });
}

/** A file that the vendor can fetch or that is there already. */
export const fileUrl = checked<string>(isFileUrl, { type: 'file_download_error', msg: 'Failed to download the file' });

export function fileUrls(countMax: number): Check<string[]> {
  return checked<string[]>(
    (value) => Array.isArray(value) && value.length > 0 && value.length <= countMax && value.every(isFileUrl),
    { type: 'list_type', msg: `Input should be a list of 1 to ${countMax} files` },
  );
}

function isFileUrl(value: unknown): boolean {
  return (
    typeof value === 'string' && /^(https?:\/\/[^/]+\/|data:[a-z]+\/[a-z0-9.+-]+;base64,[A-Za-z0-9+/]+=*$)/.test(value)
  );
}

const PRESETS = ['square_hd', 'square', 'portrait_4_3', 'portrait_16_9', 'landscape_4_3', 'landscape_16_9'] as const;

interface Pixels {
  readonly width?: number;
  readonly height?: number;
}

export function sizes<const Word extends string = never>(
  sideMax: number,
  ...more: readonly Word[]
): Check<Pixels | (typeof PRESETS)[number] | Word> {
  const words: readonly string[] = [...PRESETS, ...more];
  const isSide = (value: unknown) => wholeBetween(1, sideMax).look(value) === undefined;
  return checked((value) => (typeof value === 'string' ? words.includes(value) : isPixels(value, isSide)), {
    type: 'literal_error',
    msg: 'Input should be a known size, or width and height',
  });
}

function isPixels(value: unknown, isSide: (side: unknown) => boolean): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).every(([name, side]) => ['width', 'height'].includes(name) && isSide(side));
}

type ObjectOf<Rules> = { [Field in keyof Rules]?: Rules[Field] extends Check<infer Type> ? Type : never };

export function objectOf<Rules extends Readonly<Record<string, Check<unknown>>>>(rules: Rules): Check<ObjectOf<Rules>> {
  return checked(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      Object.entries(value).every(([name, part]) => rules[name] !== undefined && rules[name].look(part) === undefined),
    { type: 'model_type', msg: 'Input should be a valid dictionary' },
  );
}
