// JSON as it is to be written, which JSON.stringify could not say: members twice, numbers of any form, text that is no JSON.

/** A value whose text is used as it stands. */
export class Verbatim {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** An object whose members may have the same name. */
export class Members {
  readonly pairs: [name: string, value: Written][];

  constructor(pairs: readonly (readonly [string, Written])[] = []) {
    this.pairs = pairs.map(([name, value]) => [name, value]);
  }
}

export type Written = Verbatim | Members | readonly Written[] | string | number | boolean | null;

export function writeJson(value: Written): string {
  if (value instanceof Verbatim) return value.text;
  if (value instanceof Members) {
    return `{${value.pairs.map(([name, member]) => `${JSON.stringify(name)}:${writeJson(member)}`).join(',')}}`;
  }
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  return JSON.stringify(value);
}

/** Of what JSON.parse made. */
export function toWritten(value: unknown): Written {
  if (Array.isArray(value)) return value.map(toWritten);
  if (typeof value === 'object' && value !== null) {
    return new Members(Object.entries(value).map(([name, member]) => [name, toWritten(member)]));
  }
  return value as string | number | boolean | null;
}
