import type { Caller } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import {
  type ChatFormat,
  type ReasoningSeal,
  type ResponsesRequest,
  referencedIds,
  responsesCall,
  withItems,
} from '../formats/index.ts';
import type { ChatRequest } from '../schemas/index.ts';
import { deriveKeys, type RootSecrets, seal, unsealWithAny } from '../seal.ts';
import type { ResponseItems } from './response-items.ts';

export interface ResponseDeps extends RootSecrets {
  readonly clock: Clock;
  readonly responseItems: ResponseItems;
}

/**
 * A request of the responses format as the chat call that it is. What it refers to is put in its place; what is answered
 * is kept before the answer ends, since the next request may come at once and name it.
 */
export async function prepareResponse(
  deps: ResponseDeps,
  { accountId }: Caller,
  request: ResponsesRequest,
): Promise<{ chat: ChatRequest; format: ChatFormat }> {
  const { clock, responseItems } = deps;
  const ids = referencedIds(request);
  const whole = ids.length === 0 ? request : withItems(request, await responseItems.find(accountId, ids));
  return responsesCall(whole, {
    now: clock.now(),
    reasoning: reasoningSeal(deps, accountId),
    keep: request.store ? (output) => responseItems.keep(accountId, output) : () => Promise.resolve(),
  });
}

/** Bound to account and upstream: another account's, another upstream's or a forged one does not open, and is dropped. */
function reasoningSeal(secrets: RootSecrets, accountId: string): ReasoningSeal {
  const keys = () => deriveKeys(secrets, 'reasoning');
  const contextOf = (upstreamId: string) => `${accountId} ${upstreamId}`;
  return {
    seal: (upstreamId, text) => seal(keys()[0], contextOf(upstreamId), text),
    unseal(upstreamId, sealed) {
      try {
        return unsealWithAny(keys(), contextOf(upstreamId), sealed);
      } catch {
        return undefined;
      }
    },
  };
}
