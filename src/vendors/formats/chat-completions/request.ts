import type { JsonObject, JsonValue } from '../../../json.ts';
import type { ChatRequest } from '../../../schemas/index.ts';
import { dialectOf } from '../../kit/dialects.ts';
import type { Upstream } from '../../kit/http.ts';
import { objectAt } from '../../kit/json.ts';
import type { Call } from '../../kit/wire.ts';
import { applyQuirks } from './dialects.ts';
import { DIALECTS } from './terms.ts';

/** The caller's body as it was sent, under the upstream's name of the model. */
export function toCall(request: ChatRequest, upstream: Upstream): Call {
  return { path: '/chat/completions', body: { json: toWire(request, upstream) } };
}

function toWire(request: ChatRequest, upstream: Upstream): JsonObject {
  const wire: Record<string, JsonValue> = { ...request.body, model: upstream.model };
  if (request.stream) {
    wire.stream = true;
    // A stream tells its usage only when asked.
    wire.stream_options = { ...objectAt(request.body, 'stream_options'), include_usage: true };
  }
  const dialect = dialectOf(upstream, DIALECTS);
  if (dialect !== undefined && dialect !== 'openai') applyQuirks(wire, request, dialect);
  return wire;
}
