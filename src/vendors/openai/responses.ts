import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { FormatFrame, FormatWork } from '../format-work.ts';
import { wire } from '../formats/chat-completions/index.ts';
import { DIALECTS } from '../formats/chat-completions/terms.ts';
import { EventChunks, type EventReader } from '../kit/chunks.ts';
import { dialectOf } from '../kit/dialects.ts';
import type { Upstream } from '../kit/http.ts';
import { countAt, listAt, objectAt, stringAt } from '../kit/json.ts';
import { parseEvent, type SseEvent } from '../kit/sse.ts';
import type { Call } from '../kit/wire.ts';
import type { TokenUsage } from '../vendor.ts';

/** The responses format at its author, and at upstreams whose configuration says that they speak as the author does. */
export const responses: FormatWork = {
  speaks: (upstream) => dialectOf(upstream, DIALECTS) === 'openai',

  async complete({ body }, upstream) {
    const answer = await wire.json(upstream, toCall(body, upstream));
    if (listAt(answer, 'output') === undefined) throw new UpstreamError('garbled', 'an answer without output');
    return { body: answer, usage: usageIn(answer) };
  },

  async stream({ body }, upstream) {
    const reply = await wire.events(upstream, toCall({ ...body, stream: true }, upstream));
    return new EventChunks<FormatFrame>(reply.body, new ResponseReader());
  },
};

function toCall(body: JsonObject, { model }: Upstream): Call {
  return { path: '/responses', body: { json: { ...body, model } } };
}

const LAST: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete']);

/** Reads the events of one stream. */
class ResponseReader implements EventReader<FormatFrame> {
  #isEmpty = true;
  isDone = false;

  read(event: SseEvent): FormatFrame | undefined {
    const { data } = event;
    if (data === '' || data === '[DONE]') return undefined;
    const body = parseEvent(event);
    const type = stringAt(body, 'type') ?? event.event;
    refuseFailure(type, body);
    this.#isEmpty = false;
    this.isDone = LAST.has(type);
    const added = type.endsWith('.delta') ? (stringAt(body, 'delta') ?? '') : '';
    return { event: type, data, body, added, usage: this.isDone ? usageIn(objectAt(body, 'response')) : undefined };
  }

  end(): void {
    if (!this.isDone && !this.#isEmpty) throw new UpstreamError('server', 'the stream broke off');
  }
}

/** The two ways in which a stream says that it went wrong. */
function refuseFailure(type: string, body: JsonObject): void {
  if (type === 'error')
    throw wire.faults.toError(objectAt(body, 'error') ?? body, { error: objectAt(body, 'error') ?? body });
  if (type !== 'response.failed') return;
  const error = objectAt(objectAt(body, 'response'), 'error') ?? {};
  throw wire.faults.toError(error, { error });
}

/** In disjoint counts; undefined where there are none. */
function usageIn(response: JsonObject | undefined): TokenUsage | undefined {
  const usage = objectAt(response, 'usage');
  const input = countAt(usage, 'input_tokens');
  const output = countAt(usage, 'output_tokens');
  if (input === undefined || output === undefined) return undefined;
  const cachedTokens = Math.min(countAt(objectAt(usage, 'input_tokens_details'), 'cached_tokens') ?? 0, input);
  const reasoningTokens = Math.min(countAt(objectAt(usage, 'output_tokens_details'), 'reasoning_tokens') ?? 0, output);
  return { inputTokens: input - cachedTokens, cachedTokens, outputTokens: output - reasoningTokens, reasoningTokens };
}
