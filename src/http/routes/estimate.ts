import { z } from 'zod';
import type { Caller } from '../../accounts/index.ts';
import { estimateCall, estimateChat, prepareResponse } from '../../calls/index.ts';
import { requireModel } from '../../catalogue/index.ts';
import type { Endpoint } from '../../configuration/index.ts';
import type { ErrorCode } from '../../errors.ts';
import {
  hasCacheMark,
  messagesSchema,
  responsesSchema,
  toChatFromMessages,
  toResponsesRequest,
} from '../../formats/index.ts';
import type { JsonObject } from '../../json.ts';
import { ESTIMATE_BODY_BYTES_MAX } from '../../limits.ts';
import { parseWith } from '../../parse.ts';
import { type ChatRequest, chatSchema, toChatRequest } from '../../schemas/index.ts';
import type { HttpDeps } from '../deps.ts';
import type { Routes } from '../edge/route.ts';
import { ESTIMATED, estimateSchema, estimateView } from '../views/estimate.ts';
import { PromptFiles } from './prompt-files.ts';

const estimateBody = z.looseObject({
  endpoint: z
    .enum(ESTIMATED)
    .describe('The route that the rest of the body is for, as in a model’s `endpoints`; or a format of `chat`.'),
  model: z.string({ error: 'missing_model' }).min(1, { error: 'missing_model' }),
});

const ESTIMATE_CODES: readonly ErrorCode[] = [
  'missing_model',
  'model_not_found',
  'missing_prompt',
  'missing_messages',
  'missing_input',
  'item_not_found',
  'file_not_found',
  'invalid_n',
  'invalid_seconds',
  'invalid_duration',
  'invalid_fps',
  'invalid_response_format',
  'invalid_output_format',
  'invalid_output',
  'text_too_long',
  'unsupported_parameter',
  'conflicting_parameters',
  'invalid_input_reference',
  'invalid_mask',
  'empty_mask',
  'empty_image',
  'unreadable_image',
  'image_too_large',
  'invalid_reference_audio',
  'unsupported_audio_format',
  'voice_sample_too_large',
  'unsupported_media_url_scheme',
  'invalid_media_url',
  'url_in_extra',
];

export function estimateRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'POST',
      path: '/v1/estimate',
      summary: 'What a create call would reserve: its body plus `endpoint`',
      access: 'caller',
      scope: 'any',
      console: 'run',
      example: { endpoint: 'images', model: 'sandbox/image', prompt: 'a toll gate', resolution: '2k', n: 2 },
      body: { kind: 'json', schema: estimateBody, bytesMax: ESTIMATE_BODY_BYTES_MAX },
      answers: { 200: estimateSchema },
      codes: ESTIMATE_CODES,
    },
    async ({ body, exact, caller }) => {
      const { endpoint } = body;
      const { endpoint: _, ...exactBody } = exact();
      const modelAt = (served: Endpoint) => requireModel(deps.catalogue.snapshot, caller.groups, body.model, served);
      if (endpoint === 'chat' || endpoint === 'responses' || endpoint === 'messages') {
        const model = modelAt('chat');
        const chat = await chatOf(deps, caller, endpoint, body, exactBody);
        const writesCache = () => endpoint === 'messages' && hasCacheMark(exactBody);
        return estimateView({ model: model.id, endpoint, ...estimateChat(model, chat, writesCache) });
      }
      const model = modelAt(endpoint);
      return estimateView({ model: model.id, endpoint, ...estimateCall(model, endpoint, body, exactBody) });
    },
  );
}

/** The chat call that a body of any of its formats becomes: what is held for it is what is held for that. */
async function chatOf(
  deps: HttpDeps,
  caller: Caller,
  format: 'chat' | 'responses' | 'messages',
  body: unknown,
  exact: JsonObject,
): Promise<ChatRequest> {
  if (format === 'messages') return toChatFromMessages(parseWith(messagesSchema, body), exact).chat;
  const files = new PromptFiles(deps, caller, { content: false });
  if (format === 'chat') return files.inChat(toChatRequest(parseWith(chatSchema, body), exact));
  const request = await files.inResponse(toResponsesRequest(parseWith(responsesSchema, body), exact));
  return (await prepareResponse(deps, caller, request)).chat;
}
