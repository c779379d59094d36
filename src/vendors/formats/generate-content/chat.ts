import { UpstreamError } from '../../../errors.ts';
import { countAt } from '../../kit/json.ts';
import type { Wire } from '../../kit/wire.ts';
import type { ChatWork } from '../../vendor.ts';
import { toAnswer, toChunks } from './chat-answer.ts';
import { toWire } from './chat-request.ts';
import { readFrames } from './frames.ts';
import { toCall } from './wire.ts';

export function chatOver(wire: Wire): ChatWork {
  return {
    async complete(request, upstream) {
      const body = { json: toWire(request, upstream.model) };
      return toAnswer(await wire.json(upstream, toCall(upstream, { action: 'generateContent', body })));
    },

    async count(request, upstream) {
      const { contents, systemInstruction, tools } = toWire(request, upstream.model);
      const name = upstream.model.includes('/') ? upstream.model : `models/${upstream.model}`;
      const json = { generateContentRequest: { model: name, contents, systemInstruction, tools } };
      const answer = await wire.json(upstream, toCall(upstream, { action: 'countTokens', body: { json } }));
      const tokens = countAt(answer, 'totalTokens');
      if (tokens === undefined) throw new UpstreamError('garbled', 'a count that is none');
      return tokens;
    },

    async stream(request, upstream) {
      const body = { json: toWire(request, upstream.model) };
      const reply = await wire.events(upstream, toCall(upstream, { action: 'streamGenerateContent', body }));
      return toChunks(readFrames(reply.body, wire.faults));
    },
  };
}
