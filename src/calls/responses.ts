import type { Caller } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import { type ChatFormat, type ResponsesRequest, referencedIds, responsesCall, withItems } from '../formats/index.ts';
import type { ChatRequest } from '../schemas/index.ts';
import type { ResponseItems } from './response-items.ts';

export interface ResponseDeps {
  readonly clock: Clock;
  readonly responseItems: ResponseItems;
}

/**
 * A request of the responses format as the chat call that it is. What it refers to is put in its place; what is answered
 * is kept before the answer ends, since the next request may come at once and name it.
 */
export async function prepareResponse(
  { clock, responseItems }: ResponseDeps,
  { accountId }: Caller,
  request: ResponsesRequest,
): Promise<{ chat: ChatRequest; format: ChatFormat }> {
  const ids = referencedIds(request);
  const whole = ids.length === 0 ? request : withItems(request, await responseItems.find(accountId, ids));
  return responsesCall(whole, {
    now: clock.now(),
    keep: request.store ? (output) => responseItems.keep(accountId, output) : () => Promise.resolve(),
  });
}
