import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { withMember } from '../../json-splice.ts';
import type { FormatFrame, FormatRequest, FormatWork } from '../format-work.ts';
import {
  countTokens,
  NO_TOKENS,
  parseMessage,
  toUsage,
  UNSTREAMED_TOKENS_MAX,
  wire,
} from '../formats/messages/index.ts';
import { EventChunks } from '../kit/chunks.ts';
import { readBytes, type Upstream } from '../kit/http.ts';
import { countAt, objectAt } from '../kit/json.ts';
import type { Call, CallBody } from '../kit/wire.ts';
import { allowedBetas, refuseServerTools } from './features.ts';
import { joinFrames } from './join.ts';
import { PassedReader } from './passed-frames.ts';

const PATH = '/v1/messages';
const VERSIONS: ReadonlySet<string> = new Set(['2023-06-01', '2026-10-21']);

/** The vendor's own format: what a caller of it sends goes up as it is, and what comes back goes down as it came. */
export const messages: FormatWork = {
  speaks: () => true,

  async complete(request, upstream) {
    if ((countAt(request.body, 'max_tokens') ?? 0) > UNSTREAMED_TOKENS_MAX) {
      const streamed = { ...request, body: { ...request.body, stream: true }, bytes: undefined };
      return joinFrames(await open(streamed, upstream));
    }
    const reply = await wire.send(upstream, toCall(PATH, request, upstream));
    const { value, exact } = parseMessage((await readBytes(reply)).toString('utf8'));
    const usage = objectAt(value, 'usage');
    return { body: exact, usage: usage && toUsage(countTokens(usage, NO_TOKENS)) };
  },

  stream: open,

  async count(request, upstream) {
    const answer = await wire.json(upstream, toCall(`${PATH}/count_tokens`, request, upstream));
    const tokens = countAt(answer, 'input_tokens');
    if (tokens === undefined) throw new UpstreamError('garbled', 'a count that is none');
    return tokens;
  },
};

async function open(request: FormatRequest, upstream: Upstream): Promise<EventChunks<FormatFrame>> {
  const { body } = await wire.events(upstream, toCall(PATH, request, upstream));
  return new EventChunks(body, new PassedReader());
}

function toCall(path: string, request: FormatRequest, upstream: Upstream): Call {
  refuseServerTools(request.body, upstream);
  const version = String(request.headers?.['anthropic-version'] ?? '');
  const betas = allowedBetas(String(request.headers?.['anthropic-beta'] ?? ''), upstream);
  return {
    path,
    headers: {
      ...(VERSIONS.has(version) && { 'anthropic-version': version }),
      ...(betas !== undefined && { 'anthropic-beta': betas }),
    },
    body: toBody(request, upstream.model),
  };
}

/** To the byte, but for the model's name, where the caller's bytes are at hand. */
function toBody({ body, bytes }: FormatRequest, model: string): CallBody {
  if (bytes === undefined) return { json: { ...body, model } satisfies JsonObject };
  return { type: 'application/json', content: withMember(bytes, 'model', JSON.stringify(model)) };
}
