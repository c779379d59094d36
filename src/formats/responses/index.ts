import type { JsonObject } from '../../json.ts';
import { isObject, listAt } from '../../json-read.ts';
import type { ChatRequest } from '../../schemas/index.ts';
import type { ChatFormat, Settled } from '../format.ts';
import { Events } from './events.ts';
import { itemsOf } from './items.ts';
import { passThrough, type ReasoningSeal } from './pass-through.ts';
import type { ResponsesRequest } from './request.ts';
import { incompleteReason, ResponseObject, responsesUsage } from './response.ts';
import { toChat } from './to-chat.ts';
import { readTools, type Tools } from './tools.ts';
import { ResponsesWriter } from './writer.ts';

export type { ReasoningSeal } from './pass-through.ts';
export { type ResponsesRequest, referencedIds, responsesSchema, toResponsesRequest, withItems } from './request.ts';

/** What a format needs of its surroundings. */
export interface ResponsesContext {
  readonly now: Date;
  /** Keeps output items so that a later request can refer to them; never rejects. */
  readonly keep: (output: readonly JsonObject[]) => Promise<void>;
  readonly reasoning: ReasoningSeal;
}

/** A request without references, as a chat call and the format that answers it. Throws ApiError for what it cannot express. */
export function responsesCall(
  request: ResponsesRequest,
  context: ResponsesContext,
): { readonly chat: ChatRequest; readonly format: ChatFormat } {
  const tools = readTools(request.body);
  return { chat: toChat(request, tools), format: responsesFormat(request, tools, context) };
}

function responsesFormat(
  request: ResponsesRequest,
  tools: Tools,
  { now, keep, reasoning }: ResponsesContext,
): ChatFormat {
  const response = new ResponseObject(request, tools, now);
  const { named } = tools;
  return {
    limitField: 'max_output_tokens',
    async whole(body: JsonObject, settled: Settled): Promise<JsonObject> {
      const [choice] = listAt(body, 'choices') ?? [];
      const answered = isObject(choice) ? choice : {};
      const reason = incompleteReason(answered.finish_reason);
      const status = reason === undefined ? 'completed' : 'incomplete';
      const output = itemsOf(answered, named, status);
      await keep(output);
      const usage = responsesUsage(settled);
      return response.whole({ status, output, usage, incompleteReason: reason, serviceTier: body.service_tier });
    },
    passThrough: passThrough({ request, tools, response, reasoning, keep }),
    writer: () => new ResponsesWriter({ response, events: new Events(), named, keep }),
  };
}
