import { UpstreamError } from '../../errors.ts';
import { UPSTREAM_ERROR_BYTES_MAX } from '../../limits.ts';
import type { ChatRequest } from '../../requests/index.ts';
import { readBytes, send, type Upstream, type UpstreamReply } from '../kit/http.ts';
import type { ChatWork } from '../vendor.ts';
import { toAnswer } from './answer.ts';
import { faultOfRefusal } from './faults.ts';
import { outputTokensMax, toWire } from './request.ts';
import { gather, readPieces, toChunks } from './stream.ts';

/**
 * Every server of this format takes it. The later 2026-10-21 answers alike and refuses more: sampling fields, documents
 * of the assistant, citations of the user. None of these is ever sent, so a request is good under both.
 */
const VERSION = '2023-06-01';

/** A longer answer may take minutes, and an upstream that does not stream is silent all the while. */
const UNSTREAMED_TOKENS_MAX = 8192;

export const chat: ChatWork = {
  async complete(request, upstream) {
    if (outputTokensMax(request) > UNSTREAMED_TOKENS_MAX) {
      return gather(readPieces(await openStream(request, upstream)), request.model);
    }
    const reply = await post(request, upstream, false);
    return toAnswer((await readBytes(reply)).toString('utf8'), request.model);
  },

  async stream(request, upstream) {
    return toChunks(readPieces(await openStream(request, upstream)), request.model);
  },
};

async function openStream(request: ChatRequest, upstream: Upstream): Promise<UpstreamReply['body']> {
  const reply = await post(request, upstream, true);
  const type = String(reply.headers['content-type'] ?? '');
  if (!type.startsWith('text/event-stream')) throw await notAStream(type, reply);
  return reply.body;
}

/** Taking one piece and no more lets go of the connection. */
async function notAStream(type: string, { body }: UpstreamReply): Promise<UpstreamError> {
  let start = '';
  for await (const piece of body) {
    start = piece.toString('utf8', 0, UPSTREAM_ERROR_BYTES_MAX);
    break;
  }
  return new UpstreamError('garbled', `a stream of type "${type}": ${start}`);
}

function post(request: ChatRequest, upstream: Upstream, stream: boolean): Promise<UpstreamReply> {
  const headers = {
    'x-api-key': upstream.apiKey,
    'anthropic-version': VERSION,
    'content-type': 'application/json',
    accept: stream ? 'text/event-stream' : 'application/json',
  };
  const body = JSON.stringify(toWire(request, upstream.model, stream));
  return send(upstream, { method: 'POST', path: '/v1/messages', headers, body }, { faultOf: faultOfRefusal });
}
