import { chatOver } from '../formats/generate-content/index.ts';
import { chatOver as claudeOver } from '../formats/messages/index.ts';
import type { ChatWork } from '../vendor.ts';
import { claudeWire, wire } from './wire.ts';

const gemini = chatOver(wire);

/** In the body and not in a header; later values are not known to be taken by every model. */
const VERSION = 'vertex-2023-10-16';

/** The model stands in the path alone. */
const claude = claudeOver(claudeWire, ({ model: _model, ...message }, upstream, isStream) => ({
  path: `/publishers/anthropic/models/${encodeURIComponent(upstream.model)}:${isStream ? 'streamRawPredict' : 'rawPredict'}`,
  body: { json: { anthropic_version: VERSION, ...message } },
}));

function workFor(upstreamModel: string): ChatWork {
  return upstreamModel.startsWith('claude') ? claude : gemini;
}

/** Two publishers' formats behind one address, by the name of the model. */
export const chat: ChatWork = {
  complete: (request, upstream) => workFor(upstream.model).complete(request, upstream),
  stream: (request, upstream) => workFor(upstream.model).stream(request, upstream),
};
