import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { type AnswerDelta, type Message, toCompletion } from '../formats/messages/index.ts';
import { countOr, objectAt, objectsAt, requiredString, stringAt } from '../kit/json.ts';
import { parseEvent, readEvents } from '../kit/sse.ts';
import type { ChatAnswer, TokenUsage } from '../vendor.ts';

const FINISH_REASONS: ReadonlyMap<string, string> = new Map([
  ['COMPLETE', 'stop'],
  ['STOP_SEQUENCE', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['TOOL_CALL', 'tool_calls'],
  ['ERROR_TOXIC', 'content_filter'],
]);

function finishOf(from: JsonObject | undefined): string {
  const reason = requiredString(from, 'finish_reason');
  if (reason === 'TIMEOUT') throw new UpstreamError('timeout', 'the model took too long');
  const known = FINISH_REASONS.get(reason);
  if (known === undefined && reason.startsWith('ERROR')) {
    throw new UpstreamError('server', `the answer ended with ${reason}: ${stringAt(from, 'error') ?? ''}`);
  }
  return known ?? 'stop';
}

/** Throws UpstreamError for anything that is not a whole message. A plan of tool calls is reasoning. */
export function toAnswer(answer: JsonObject, model: string): ChatAnswer {
  const told = objectAt(answer, 'message');
  if (told === undefined) throw new UpstreamError('garbled', 'an answer without a message');
  const plan = stringAt(told, 'tool_plan') ?? '';
  const message: Message = { text: '', reasoning: plan, calls: [], finish: finishOf(answer) };
  for (const part of objectsAt(told, 'content')) {
    message.text += stringAt(part, 'text') ?? '';
    message.reasoning += stringAt(part, 'thinking') ?? '';
  }
  for (const call of objectsAt(told, 'tool_calls')) message.calls.push({ ...readCall(call), arguments: inputOf(call) });
  return { body: toCompletion(message, model), usage: usageIn(answer) };
}

function readCall(call: JsonObject | undefined): { id: string; name: string } {
  return { id: requiredString(call, 'id'), name: requiredString(objectAt(call, 'function'), 'name') };
}

/** A client cannot parse ''. */
function inputOf(call: JsonObject): string {
  const text = stringAt(objectAt(call, 'function'), 'arguments') ?? '';
  return text === '' ? '{}' : text;
}

/** What is billed, where it is told: what the model read besides, such as instructions of the vendor's own, is not. */
function usageIn(from: JsonObject | undefined): TokenUsage | undefined {
  const usage = objectAt(from, 'usage');
  const counted = objectAt(usage, 'billed_units') ?? objectAt(usage, 'tokens');
  if (counted === undefined) return undefined;
  const input = countOr(counted, 'input_tokens', 0);
  const cachedTokens = Math.min(countOr(usage, 'cached_tokens', 0), input);
  const counts = {
    inputTokens: input - cachedTokens,
    cachedTokens,
    outputTokens: countOr(counted, 'output_tokens', 0),
    reasoningTokens: 0,
  };
  return Object.values(counts).some(Number.isNaN) ? undefined : counts;
}

/** Events of one stream to what they add. */
export async function* readDeltas(body: AsyncIterable<Buffer>): AsyncIterable<AnswerDelta> {
  let [isStarted, isEnded, calls, hasArguments] = [false, false, 0, true];
  for await (const event of readEvents(body)) {
    if (isEnded || event.data === '' || event.data === '[DONE]') continue;
    const frame = parseEvent(event);
    const delta = objectAt(frame, 'delta');
    const message = objectAt(delta, 'message');
    isStarted = true;
    switch (stringAt(frame, 'type') ?? '') {
      case 'message-start':
        yield added({ role: 'assistant', content: '' });
        break;
      case 'content-start':
      case 'content-delta':
      case 'tool-plan-delta':
        yield* spokenIn(message);
        break;
      case 'tool-call-start': {
        const call = objectAt(message, 'tool_calls');
        const input = stringAt(objectAt(call, 'function'), 'arguments') ?? '';
        hasArguments = input !== '';
        yield calling({ index: calls++, ...firstPiece(call, input) });
        break;
      }
      case 'tool-call-delta': {
        const piece = stringAt(objectAt(objectAt(message, 'tool_calls'), 'function'), 'arguments') ?? '';
        if (piece === '') break;
        hasArguments = true;
        yield calling({ index: calls - 1, function: { arguments: piece } });
        break;
      }
      case 'tool-call-end':
        if (!hasArguments) yield calling({ index: calls - 1, function: { arguments: '{}' } });
        hasArguments = true;
        break;
      case 'message-end':
        isEnded = true;
        yield { delta: {}, finish: finishOf(delta), usage: usageIn(delta) };
    }
  }
  if (isStarted && !isEnded) throw new UpstreamError('server', 'the stream ended in the middle of its message');
}

type Delta = NonNullable<AnswerDelta['delta']>;
type CallDelta = NonNullable<Delta['tool_calls']>[0];

function firstPiece(call: JsonObject | undefined, input: string): Omit<CallDelta, 'index'> {
  const { id, name } = readCall(call);
  return { id, type: 'function', function: { name, arguments: input } };
}

function* spokenIn(message: JsonObject | undefined): Iterable<AnswerDelta> {
  const content = objectAt(message, 'content');
  const reasoning = stringAt(content, 'thinking') ?? stringAt(message, 'tool_plan') ?? '';
  const text = stringAt(content, 'text') ?? '';
  if (reasoning !== '') yield added({ reasoning_content: reasoning });
  if (text !== '') yield added({ content: text });
}

function calling(call: CallDelta): AnswerDelta {
  return added({ tool_calls: [call] });
}

function added(delta: Delta): AnswerDelta {
  return { delta, finish: null, usage: undefined };
}
