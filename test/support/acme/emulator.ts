import { json, jsonIn } from '../../../src/vendors/emulator/json.ts';
import type { Recorded } from '../../../src/vendors/emulator/recording-server.ts';
import { type Answer, ScriptedServer } from '../../../src/vendors/emulator/scripted-server.ts';

const FIELDS = new Set(['model', 'text', 'shape', 'seed', 'start_from']);

/** As strict about what it is sent as the vendor would be. */
export class AcmeEmulator extends ScriptedServer {
  /** How often a task is running before it is done. */
  readsUntilDone = 1;
  picture: Buffer;
  readonly #apiKey: string;
  readonly #reads = new Map<string, number>();

  constructor(apiKey: string, picture: Buffer) {
    super((asked) => this.#answer(asked));
    this.#apiKey = apiKey;
    this.picture = picture;
  }

  /** The requests of one kind. */
  sent(method: string, path: RegExp): Recorded[] {
    return this.requests.filter((request) => request.method === method && path.test(request.path));
  }

  async #answer(asked: Recorded): Promise<Answer> {
    const { method, path, headers } = asked;
    if (headers.authorization !== `Bearer ${this.#apiKey}`) return refusal(401, 'bad_key');
    const [, id = '', isContent] = /^\/v1\/pictures\/([^/]+)(\/content)?$/.exec(path) ?? [];
    if (method === 'GET' && isContent !== undefined) return { status: 200, body: this.picture };
    if (method === 'GET') return this.#status(id);
    if (method !== 'POST' || path !== '/v1/pictures') return refusal(404, 'not_found');
    const body = jsonIn(asked);
    if (body === undefined) return refusal(400, 'no_json');
    const unknown = Object.keys(body).find((name) => !FIELDS.has(name));
    if (unknown !== undefined) return refusal(400, `unknown_field_${unknown}`);
    const task = `p-${this.#reads.size + 1}`;
    this.#reads.set(task, 0);
    return json(202, { id: task });
  }

  #status(id: string): Answer {
    const reads = this.#reads.get(id);
    if (reads === undefined) return refusal(404, 'not_found');
    this.#reads.set(id, reads + 1);
    if (reads < this.readsUntilDone) return json(200, { status: 'drawing', done: 0.4, ask_again_after: 20 });
    return json(200, { status: 'done', credits: 7, pictures: [{ path: `/v1/pictures/${id}/content` }] });
  }
}

function refusal(status: number, code: string): Answer {
  return json(status, { error: { code, message: 'marker' } });
}
