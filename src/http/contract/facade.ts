import type { Contract } from './contract.ts';

/**
 * The facade: a second base URL in which media calls have the shapes of the OpenAI client libraries, on top of the same
 * jobs. Everything that those libraries spell differently from `/v1` is named here.
 */
export const FACADE = '/openai/v1';

/** How the document calls the group of these routes. */
export const FACADE_TAG = 'OpenAI client libraries';

/** How long a client library is to pause between two looks at a video. */
export const POLL_AFTER_HEADER = 'openai-poll-after-ms';

/** Paths of `/v1` that the facade serves as they are, with all that lies below each. */
const SAME_AS_PLAIN = ['/v1/chat/completions', '/v1/models', '/v1/audio/speech', '/v1/responses', '/v1/embeddings'];

/** The same route under the facade, where it is served as it is. */
export function facadeContract(contract: Contract): Contract | undefined {
  if (contract.access !== 'caller') return undefined;
  const { console: _, ...same } = contract;
  const path = facadePathOf(contract.path);
  return path === undefined ? undefined : { ...same, path };
}

/** Where the facade serves what lies at this path of `/v1`, if it serves it as it is. */
export function facadePathOf(path: string): string | undefined {
  // A path with an action is of the native format.
  if (path.endsWith(':{action}')) return undefined;
  const isSame = SAME_AS_PLAIN.some((served) => path === served || path.startsWith(`${served}/`));
  return isSame ? path.replace('/v1', FACADE) : undefined;
}
