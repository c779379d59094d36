import type { ChatRequest } from '../../requests/index.ts';
import { readJson, type Upstream, type UpstreamReply } from '../kit/http.ts';
import type { ChatWork, NativeAction } from '../vendor.ts';
import { toAnswer, toChunks } from './chat-answer.ts';
import { toWire } from './chat-request.ts';
import { openFrames } from './frames.ts';
import { post } from './wire.ts';

export const chat: ChatWork = {
  async complete(request, upstream) {
    return toAnswer(await readJson(await ask(request, upstream, 'generateContent')));
  },

  async stream(request, upstream) {
    return toChunks(await openFrames(await ask(request, upstream, 'streamGenerateContent')));
  },
};

function ask(request: ChatRequest, upstream: Upstream, action: NativeAction): Promise<UpstreamReply> {
  const accept = action === 'generateContent' ? 'application/json' : 'text/event-stream';
  return post(upstream, { action, body: JSON.stringify(toWire(request, upstream.model)), query: '', accept });
}
