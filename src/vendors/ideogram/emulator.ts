import { json } from '../emulator/json.ts';
import type { Recorded } from '../emulator/recording-server.ts';
import { type Answer, ScriptedServer } from '../emulator/scripted-server.ts';
import { problemOf } from './emulator/fields.ts';

/** The vendor's server and the host of its results in one. A text that holds the word "forbidden" breaks its rules. */
export class IdeogramEmulator extends ScriptedServer {
  readonly forbidden = 'a forbidden gate';
  isBroke = false;
  isBusy = false;
  areLinksDead = false;
  /** Not to be had for now. */
  areLinksDown = false;
  /** How many pictures of a call the safety check withholds. */
  withheldPictures = 0;
  /** The fields of what was accepted, and whether each was a form. */
  readonly accepted: { readonly path: string; readonly body: object; readonly isForm: boolean }[] = [];
  readonly #apiKey: string;
  readonly #picture: Buffer;

  constructor(apiKey: string, picture: Buffer) {
    super((request) => this.#answer(request));
    this.#apiKey = apiKey;
    this.#picture = picture;
  }

  /** The requests of one kind. */
  sent(method: string, path = /./): Recorded[] {
    return this.requests.filter((request) => request.method === method && path.test(request.path));
  }

  async #answer(request: Recorded): Promise<Answer> {
    const { method, path, headers } = request;
    if (path.startsWith('/files/')) return this.#download(headers['api-key'] !== undefined);
    if (headers['api-key'] !== this.#apiKey) return refusal(401, 'Not authorized to generate an image.');
    if (method === 'GET' && path === '/datasets') return json(200, { datasets: [] });
    if (method !== 'POST') return refusal(404, 'Not Found');
    return this.#make(request);
  }

  async #make({ path, headers, bytes }: Recorded): Promise<Answer> {
    const isForm = /^multipart\/form-data/.test(headers['content-type'] ?? '');
    const body = await fieldsIn(headers['content-type'] ?? '', bytes);
    const problem = body === undefined ? 'body' : problemOf(path, body, isForm);
    if (problem === 'route') return refusal(404, 'Not Found');
    if (body === undefined || problem !== undefined) return refusal(400, `Invalid input provided: ${problem}`);
    if (this.isBroke) return refusal(402, 'Payment is required');
    if (this.isBusy) return refusal(429, 'Too many requests.');
    this.accepted.push({ path, body, isForm });
    const prompt = String(body.prompt ?? body.text_prompt);
    if (prompt.includes('forbidden')) return json(422, { prompt, is_image_safe: false });
    return this.#draw(prompt, Number(body.num_images ?? 1));
  }

  #draw(prompt: string, count: number): Answer {
    const data = Array.from({ length: count }, (_, at) => {
      const is_image_safe = at >= this.withheldPictures;
      const url = is_image_safe ? `${this.origin}/files/${at}.png?exp=1&sig=s` : null;
      return { prompt, resolution: '1024x1024', is_image_safe, seed: 12_345, url, style_type: 'GENERAL' };
    });
    return json(200, { created: '2026-11-18T09:00:00+00:00', data });
  }

  /** A signed link: it needs no key, and the host of files must never see it. */
  #download(hasKey: boolean): Answer {
    if (hasKey) return { status: 400, body: 'a credential beside a signature' };
    if (this.areLinksDown) return { status: 503, body: 'later' };
    if (this.areLinksDead) return { status: 403, body: 'expired' };
    return { status: 200, headers: { 'content-type': 'image/png' }, body: this.#picture };
  }
}

type Body = Readonly<Record<string, unknown>>;

/** Undefined for what is neither a form nor a JSON object. */
async function fieldsIn(type: string, bytes: Buffer): Promise<Body | undefined> {
  try {
    if (type === 'application/json') return JSON.parse(bytes.toString());
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
    return Object.fromEntries(form.entries());
  } catch {
    return undefined;
  }
}

function refusal(status: number, detail: string): Answer {
  return json(status, { detail, status, title: 'marker', type: 'about:blank' });
}
