/** Changes one value in the text of a JSON object and nothing else, for bodies that are passed on to the byte. */

const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Every member of that name at the top, since a reader may go by the first or the last of them. `json` is an object. */
export function withMember(json: Buffer, name: string, value: string): Buffer {
  const written = Buffer.from(value);
  const pieces: Buffer[] = [];
  let rest = 0;
  for (const [start, end] of valuesOf(json, name)) {
    pieces.push(json.subarray(rest, start), written);
    rest = end;
  }
  return Buffer.concat([...pieces, json.subarray(rest)]);
}

type Span = readonly [start: number, end: number];

/** Where the values of a name stand at the top of an object, white space around them included. */
function valuesOf(json: Buffer, name: string): Span[] {
  const spans: Span[] = [];
  let depth = 0;
  /** The last string: at a colon it is a name. */
  let text: Span = [0, 0];
  let start = -1;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) {
      const end = endOfString(json, at);
      text = [at, end + 1];
      at = end;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--;
    else if (byte === COLON && depth === 1 && isName(json, text, name)) start = at + 1;
    if (start !== -1 && ((byte === COMMA && depth === 1) || depth === 0)) {
      spans.push([start, at]);
      start = -1;
    }
  }
  return spans;
}

function endOfString(json: Buffer, start: number): number {
  let at = json.indexOf(QUOTE, start + 1);
  while (at !== -1 && isEscaped(json, at)) at = json.indexOf(QUOTE, at + 1);
  return at === -1 ? json.length : at;
}

function isEscaped(json: Buffer, quote: number): boolean {
  let slashes = 0;
  while (json[quote - 1 - slashes] === BACKSLASH) slashes++;
  return slashes % 2 === 1;
}

/** A name may be written in escapes. */
function isName(json: Buffer, [start, end]: Span, name: string): boolean {
  const longest = name.length * '\\u0000'.length + 2;
  return end - start <= longest && JSON.parse(json.toString('utf8', start, end)) === name;
}
