import { UpstreamError } from '../../errors.ts';
import { JsonError, type JsonObject, type JsonValue, parseJson } from '../../json.ts';
import type { FormatAnswer, FormatFrame } from '../format-work.ts';
import { countAt, isObject, itemsAt, objectAt, stringAt } from '../kit/json.ts';
import type { TokenUsage } from '../vendor.ts';

/** A block of which more may come. */
interface JoinedBlock {
  fields: Record<string, JsonValue>;
  /** The text of its input, which is JSON only as a whole. */
  input: string;
}

/** The whole message of a stream, for a caller who does not take it piece by piece. */
export async function joinFrames(frames: AsyncIterable<FormatFrame>): Promise<FormatAnswer> {
  const blocks: JoinedBlock[] = [];
  let message: Record<string, JsonValue> | undefined;
  let usage: TokenUsage | undefined;
  for await (const frame of frames) {
    const { body } = frame;
    usage = frame.usage ?? usage;
    const block = blocks[countAt(body, 'index') ?? -1];
    if (body.type === 'message_start') message = { ...objectAt(body, 'message') };
    else if (body.type === 'content_block_start')
      blocks.push({ fields: { ...objectAt(body, 'content_block') }, input: '' });
    else if (body.type === 'content_block_delta' && block !== undefined) addDelta(block, objectAt(body, 'delta'));
    else if (body.type === 'message_delta')
      message = { ...message, ...objectAt(body, 'delta'), usage: totals(message, body) };
  }
  if (message === undefined) throw new UpstreamError('garbled', 'the stream held no message');
  return { body: { ...message, content: blocks.map(toBlock) }, usage };
}

/** The last counts; what is not told at the end was told at the start. */
function totals(message: JsonObject | undefined, body: JsonObject): JsonObject {
  const last = Object.entries(objectAt(body, 'usage') ?? {}).filter(([, count]) => count !== null);
  return { ...objectAt(message, 'usage'), ...Object.fromEntries(last) };
}

function addDelta(block: JoinedBlock, delta: JsonObject | undefined): void {
  const { fields } = block;
  switch (stringAt(delta, 'type') ?? '') {
    case 'text_delta':
      fields.text = (stringAt(fields, 'text') ?? '') + (stringAt(delta, 'text') ?? '');
      return;
    case 'thinking_delta':
      fields.thinking = (stringAt(fields, 'thinking') ?? '') + (stringAt(delta, 'thinking') ?? '');
      return;
    case 'signature_delta':
      fields.signature = stringAt(delta, 'signature') ?? '';
      return;
    case 'citations_delta':
      fields.citations = [...itemsAt(fields, 'citations'), delta?.citation ?? null];
      return;
    case 'input_json_delta':
      block.input += stringAt(delta, 'partial_json') ?? '';
  }
}

/** An input that was cut off is told as it was written: the answer says why it ended. */
function toBlock({ fields, input }: JoinedBlock): JsonObject {
  if (input === '') return fields;
  try {
    const value = parseJson(input).exact();
    if (isObject(value)) return { ...fields, input: value };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  return { ...fields, input: { arguments: input } };
}
