import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { type AnswerDelta, type Message, toCompletion } from '../formats/messages/index.ts';
import { countOr, isObject, objectAt, objectsAt, requiredString, stringAt } from '../kit/json.ts';
import type { ChatAnswer, TokenUsage } from '../vendor.ts';
import type { StreamEvent } from './event-stream.ts';

const FINISH_REASONS: ReadonlyMap<string, string> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['content_filtered', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
]);

function finishOf(reason: string | undefined): string {
  if (reason === undefined) throw new UpstreamError('garbled', 'an answer without a reason for its end');
  if (reason.startsWith('malformed_')) throw new UpstreamError('server', `the model made ${reason}`);
  return FINISH_REASONS.get(reason) ?? 'stop';
}

/** Throws UpstreamError for anything that is not a whole message. */
export function toAnswer(answer: JsonObject, model: string): ChatAnswer {
  const content = objectAt(objectAt(answer, 'output'), 'message');
  if (content === undefined) throw new UpstreamError('garbled', 'an answer without a message');
  const message: Message = { text: '', reasoning: '', calls: [], finish: finishOf(stringAt(answer, 'stopReason')) };
  for (const block of objectsAt(content, 'content')) {
    message.text += stringAt(block, 'text') ?? '';
    message.reasoning += stringAt(objectAt(objectAt(block, 'reasoningContent'), 'reasoningText'), 'text') ?? '';
    const call = objectAt(block, 'toolUse');
    if (call !== undefined) message.calls.push({ ...readCall(call), arguments: JSON.stringify(call.input ?? {}) });
  }
  return { body: toCompletion(message, model), usage: usageIn(answer) };
}

function readCall(call: JsonObject): { id: string; name: string } {
  return { id: requiredString(call, 'toolUseId'), name: requiredString(call, 'name') };
}

/** Input leaves out both sides of the cache; what is written to it is charged as input. */
function usageIn(from: JsonObject): TokenUsage | undefined {
  const usage = objectAt(from, 'usage');
  if (usage === undefined) return undefined;
  const counts = {
    inputTokens: countOr(usage, 'inputTokens', 0) + countOr(usage, 'cacheWriteInputTokens', 0),
    cachedTokens: countOr(usage, 'cacheReadInputTokens', 0),
    outputTokens: countOr(usage, 'outputTokens', 0),
    reasoningTokens: 0,
  };
  return Object.values(counts).some(Number.isNaN) ? undefined : counts;
}

/** Events of one stream to what they add. Usage comes last, behind the reason for the end. */
export async function* readDeltas(events: AsyncIterable<StreamEvent>): AsyncIterable<AnswerDelta> {
  const calls = new Map<unknown, { readonly index: number; hasArguments: boolean }>();
  let [isStarted, isEnded] = [false, false];
  for await (const { type, body } of events) {
    const { contentBlockIndex: at } = body;
    isStarted = true;
    const delta = objectAt(body, 'delta');
    const started = objectAt(objectAt(body, 'start'), 'toolUse');
    if (type === 'messageStart') yield added({ role: 'assistant', content: '' });
    else if (type === 'contentBlockStart' && started !== undefined) {
      const { id, name } = readCall(started);
      calls.set(at, { index: calls.size, hasArguments: false });
      yield added({ tool_calls: [{ index: calls.size - 1, id, type: 'function', function: { name, arguments: '' } }] });
    } else if (type === 'contentBlockDelta' && delta !== undefined) {
      const call = calls.get(at);
      const piece = stringAt(objectAt(delta, 'toolUse'), 'input') ?? '';
      if (call !== undefined && piece !== '') call.hasArguments = true;
      const one = deltaOf(delta, call?.index, piece);
      if (one !== undefined) yield one;
    } else if (type === 'contentBlockStop') {
      const call = calls.get(at);
      // A client cannot parse ''.
      if (call?.hasArguments === false) {
        yield added({ tool_calls: [{ index: call.index, function: { arguments: '{}' } }] });
      }
    } else if (type === 'messageStop') {
      isEnded = true;
      yield { delta: {}, finish: finishOf(stringAt(body, 'stopReason')), usage: undefined };
    } else if (type === 'metadata') yield { delta: undefined, finish: null, usage: usageIn(body) };
  }
  if (isStarted && !isEnded) throw new UpstreamError('server', 'the stream ended in the middle of its message');
}

function deltaOf(delta: JsonObject, call: number | undefined, piece: string): AnswerDelta | undefined {
  const text = stringAt(delta, 'text');
  const { reasoningContent } = delta;
  const reasoning = isObject(reasoningContent) ? stringAt(reasoningContent, 'text') : undefined;
  if (text !== undefined && text !== '') return added({ content: text });
  if (reasoning !== undefined && reasoning !== '') return added({ reasoning_content: reasoning });
  if (call === undefined || piece === '') return undefined;
  return added({ tool_calls: [{ index: call, function: { arguments: piece } }] });
}

function added(delta: NonNullable<AnswerDelta['delta']>): AnswerDelta {
  return { delta, finish: null, usage: undefined };
}
