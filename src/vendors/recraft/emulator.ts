import { json } from '../emulator/json.ts';
import type { Recorded } from '../emulator/recording-server.ts';
import { type Answer, ScriptedServer } from '../emulator/scripted-server.ts';
import { problemOf } from './emulator/fields.ts';

/** What one picture costs, in the vendor's units. */
const UNITS = 40;

/** The vendor's server and the host of its results in one. A text that holds the word "forbidden" breaks its rules. */
export class RecraftEmulator extends ScriptedServer {
  readonly forbidden = 'a forbidden gate';
  isBroke = false;
  isBusy = false;
  areLinksDead = false;
  /** Not to be had for now. */
  areLinksDown = false;
  /** How many pictures of a call do not come. */
  missingPictures = 0;
  /** The bodies of what was accepted. */
  readonly accepted: { readonly path: string; readonly body: object }[] = [];
  readonly #apiKey: string;
  readonly #picture: Buffer;

  constructor(apiKey: string, picture: Buffer) {
    super((request) => this.#answer(request));
    this.#apiKey = apiKey;
    this.#picture = picture;
  }

  override get url(): string {
    return `${this.origin}/v1`;
  }

  /** The requests of one kind. */
  sent(method: string, path = /./): Recorded[] {
    return this.requests.filter((request) => request.method === method && path.test(request.path));
  }

  async #answer(request: Recorded): Promise<Answer> {
    const { method, path, headers } = request;
    if (path.startsWith('/files/')) return this.#download(headers.authorization !== undefined);
    if (headers.authorization !== `Bearer ${this.#apiKey}`) return refusal(401, 'unauthorized');
    if (method === 'GET' && path === '/v1/users/me') return json(200, { id: 'u-1', credits: 1000 });
    return method === 'POST' ? this.#make(request) : refusal(404, 'not_found');
  }

  #make({ path, headers, bytes }: Recorded): Answer {
    const body = headers['content-type'] === 'application/json' ? objectIn(bytes) : undefined;
    const problem = body === undefined ? 'body' : problemOf(path, body);
    if (problem === 'route') return refusal(404, 'not_found');
    if (body === undefined || problem !== undefined) return refusal(400, 'invalid_parameter', problem);
    // Its way to tell of money that is spent is not known: this is the one that is hardest to tell from a bad request.
    if (this.isBroke) return refusal(400, 'not_enough_credits');
    if (this.isBusy) return refusal(429, 'too_many_requests');
    this.accepted.push({ path, body });
    if (String(body.prompt).includes('forbidden')) return refusal(400, 'nsfw_content');
    return this.#draw(Number(body.n ?? 1), body.response_format === 'b64_json');
  }

  #draw(count: number, isInline: boolean): Answer {
    const made = Math.max(0, count - this.missingPictures);
    const data = Array.from({ length: made }, (_, at) => {
      const result = { url: `${this.origin}/files/${at}.png?signature=s` };
      return { image_id: `i-${at}`, ...(isInline ? { b64_json: this.#picture.toString('base64') } : result) };
    });
    return json(200, { created: 1_763_000_000, credits: UNITS * made, data });
  }

  /** A signed link: it needs no key, and the host of files must never see it. */
  #download(hasKey: boolean): Answer {
    if (hasKey) return { status: 400, body: 'a credential beside a signature' };
    if (this.areLinksDown) return { status: 503, body: 'later' };
    if (this.areLinksDead) return { status: 403, body: 'expired' };
    return { status: 200, headers: { 'content-type': 'image/png' }, body: this.#picture };
  }
}

function objectIn(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

function refusal(status: number, code: string, field = 'marker'): Answer {
  return json(status, { code, message: `refused: ${field}` });
}
