// Ids of what exists or existed, read from answers: paths that lead somewhere find more than those that do not.
import type { Random } from '../../packages/verify/src/random.ts';
import { modelsFor, upstreamIds } from './catalogue.ts';

const ID = /\b(acct|key|grant|job|file|person|sess|link|oag|client|req)_[0-9A-Za-z]{24}\b/g;
const RECORD = /"id":"([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f-]{17})"/g;
const MEDIA = /\/media\/([^"\\\s]+)/g;
const KEPT_MAX = 100;
const READ_CHARS_MAX = 20_000;

const PREFIXES: Readonly<Record<string, readonly string[]>> = {
  account_id: ['acct'],
  key_id: ['key'],
  grant_id: ['grant', 'oag'],
  job_id: ['job'],
  file_id: ['file'],
  person_id: ['person'],
  session_id: ['sess'],
  invitation_id: ['link'],
  client_id: ['client'],
  request_id: ['req'],
  record_id: ['record'],
  object: ['object'],
};

export class KnownIds {
  readonly #kept = new Map<string, string[]>();
  /** What the campaign itself lives on is not to be changed by it. */
  readonly #spared: ReadonlySet<string>;

  constructor(spared: ReadonlySet<string>) {
    this.#spared = spared;
  }

  learn(text: string): void {
    const read = text.slice(0, READ_CHARS_MAX);
    for (const [id, prefix = ''] of read.matchAll(ID)) this.#keep(prefix, id);
    for (const [, id = ''] of read.matchAll(RECORD)) this.#keep('record', id);
    for (const [, path = ''] of read.matchAll(MEDIA)) this.#keep('object', path);
  }

  pick(parameter: string, random: Random): string {
    switch (parameter) {
      case 'model_id':
      case 'model':
        return random.pick([...modelsFor('/v1beta/'), ...modelsFor('/chat/')]);
      case 'action':
        return random.pick(['generateContent', 'streamGenerateContent', 'countTokens', 'embedContent']);
      case 'upstream_id':
        return random.pick(upstreamIds());
      case 'version':
        return String(random.whole(1, 5));
      default: {
        const prefix = random.pick(PREFIXES[parameter] ?? ['req']);
        const kept = this.#kept.get(prefix) ?? [];
        return kept.length === 0 ? `${prefix}_${'0'.repeat(24)}` : random.pick(kept);
      }
    }
  }

  #keep(prefix: string, id: string): void {
    if (this.#spared.has(id)) return;
    const kept = this.#kept.get(prefix) ?? [];
    if (kept.includes(id)) return;
    kept.push(id);
    if (kept.length > KEPT_MAX) kept.shift();
    this.#kept.set(prefix, kept);
  }
}
