import type { Submission } from './images-checks.ts';

type Json = Record<string, unknown>;

/** How the pictures of an answer come. */
export interface Pictures {
  /** Undefined: as many as were asked for. */
  readonly count?: number;
  readonly as?: 'b64_json' | 'url' | 'data url';
  /** Fields beside each picture. */
  readonly beside?: Json;
  /** The answer waits for this. */
  readonly after?: Promise<void>;
}

type Format = 'png' | 'jpeg' | 'webp';

/** What the vendor has made: its answers, and the pictures that it keeps under an address. */
export class Gallery {
  readonly #kept: { readonly type: string; readonly bytes: Buffer }[] = [];

  async documentOf(pictures: Pictures, { fields }: Submission, origin: string, marker: string): Promise<Json> {
    await pictures.after;
    const format = formatOf(fields.output_format);
    const background = fields.background === 'transparent' ? 'transparent' : 'opaque';
    const size = /^\d+x\d+$/.test(String(fields.size)) ? String(fields.size) : '1024x1024';
    const count = pictures.count ?? Number(fields.n ?? 1);
    const bytes = await pictureOf(size, format, background === 'transparent');
    const entry = { revised_prompt: `A picture (${marker})`, ...pictures.beside };
    const entries = Array.from({ length: count }, () => ({ ...this.#hand(bytes, format, pictures, origin), ...entry }));
    const used = { input_tokens: 40, output_tokens: 1056 * count, total_tokens: 40 + 1056 * count };
    return {
      created: 1_763_000_000,
      data: entries,
      background,
      output_format: format,
      quality: fields.quality === undefined || fields.quality === 'auto' ? 'high' : fields.quality,
      size,
      usage: { ...used, input_tokens_details: { text_tokens: 40, image_tokens: 0 } },
    };
  }

  /** The picture at one of the addresses that were given out. */
  at(path: string): { readonly type: string; readonly bytes: Buffer } | undefined {
    const [, at] = /^\/generated\/(\d+)$/.exec(path) ?? [];
    return at === undefined ? undefined : this.#kept[Number(at)];
  }

  #hand(bytes: Buffer, format: Format, { as = 'b64_json' }: Pictures, origin: string): Json {
    if (as === 'b64_json') return { b64_json: bytes.toString('base64') };
    if (as === 'data url') return { url: `data:image/${format};base64,${bytes.toString('base64')}` };
    this.#kept.push({ type: `image/${format}`, bytes });
    return { url: `${origin}/generated/${this.#kept.length - 1}` };
  }
}

function formatOf(asked: unknown): Format {
  return asked === 'jpeg' || asked === 'webp' ? asked : 'png';
}

const made = new Map<string, Promise<Buffer>>();

/** A real picture; the same again for the same question. */
export function pictureOf(size: string, format: Format, isTransparent = false): Promise<Buffer> {
  const name = `${size} ${format} ${isTransparent}`;
  const known = made.get(name) ?? draw(size, format, isTransparent);
  made.set(name, known);
  return known;
}

async function draw(size: string, format: Format, isTransparent: boolean): Promise<Buffer> {
  const { default: sharp } = await import('sharp');
  const [width = 0, height = 0] = size.split('x').map(Number);
  const background = isTransparent ? { r: 200, g: 80, b: 40, alpha: 0 } : { r: 200, g: 80, b: 40 };
  const picture = sharp({ create: { width, height, channels: isTransparent ? 4 : 3, background } });
  return picture.toFormat(format).toBuffer();
}
