import type { Contract } from './contract.ts';
import { FACADE, FACADE_TAG } from './facade.ts';

interface Tag {
  readonly name: string;
  readonly description: string;
  readonly paths: RegExp;
}

/** Groups of the document, by what a reader wants to do, in the order in which they are shown. The first that fits counts. */
const TAGS: readonly Tag[] = [
  {
    name: FACADE_TAG,
    description: `Their shapes, under the base URL \`${FACADE}\`.`,
    paths: new RegExp(`^${FACADE}/`),
  },
  {
    name: 'Text',
    description: 'Chat in three formats, the native format, and embeddings: answered while the caller waits.',
    paths: /^\/(v1\/(chat|responses|messages|embeddings)\b|v1\/models\/\{model\}:|v1beta\b)/,
  },
  {
    name: 'Pictures, clips and music',
    description:
      'Create calls answer with a job; `Prefer: wait=N` waits for it. An `Idempotency-Key` makes a repeat safe.',
    paths: /^\/v1\/(images|videos|audio\/music|jobs)\b/,
  },
  { name: 'Speech and transcription', description: 'Text to sound and sound to text.', paths: /^\/v1\/audio\b/ },
  { name: 'Files', description: 'Media for later requests, kept for a day.', paths: /^\/(v1\/files|media)\b/ },
  {
    name: 'Models and prices',
    description: 'What a key can use, and what a call would cost.',
    paths: /^\/(v1\/(models|estimate)|api\/hub)\b/,
  },
  {
    name: 'Credits and usage',
    description: 'The balance, every movement, and what became of a call.',
    paths: /^\/v1\/(credits|usage|key|requests)\b/,
  },
  { name: 'Tools for agents', description: 'The Model Context Protocol.', paths: /^\/mcp\b/ },
  { name: 'Running the gateway', description: 'Operator routes, by an admin token.', paths: /^\/api\/admin\b/ },
  { name: 'Console', description: 'What the console calls, by a session.', paths: /^\/api\/console\b/ },
  { name: 'Health and contract', description: 'Probes, and this document.', paths: /^\// },
];

/** As the document lists them, without their paths. */
export const TAG_LIST = TAGS.map(({ name, description }) => ({ name, description }));

export function tagOf({ path }: Pick<Contract, 'path'>): string {
  return TAGS.find(({ paths }) => paths.test(path))?.name ?? '';
}
