import { z } from 'zod';
import { type Measures, measureMedia, measureTokens, measureTranscription, quote } from '../../billing/index.ts';
import { type ListedModel, requireModel } from '../../catalogue/index.ts';
import { ENDPOINTS, type Endpoint } from '../../configuration/index.ts';
import { creditsToNumber } from '../../credits.ts';
import { ApiError, type ErrorCode } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { ESTIMATE_BODY_BYTES_MAX, SECONDS_MAX } from '../../limits.ts';
import { parseWith } from '../../parse.ts';
import { chargeFactors } from '../../pricing/index.ts';
import { checkFits, inPublishedWords } from '../../routing/index.ts';
import {
  chatSchema,
  imageSchemas,
  type MediaRequest,
  nativeTokensOf,
  soundSchema,
  toChatRequest,
  toImageRequest,
  toSoundRequest,
  toVideoRequest,
  videoSchema,
} from '../../schemas/index.ts';
import { estimatePromptTokens } from '../../text/index.ts';
import type { HttpDeps } from '../deps.ts';
import type { Routes } from '../edge/route.ts';
import { unitName } from '../views/views.ts';

const estimateBody = z.looseObject({
  endpoint: z.enum(ENDPOINTS).describe('The route that the rest of the body is for, as in a model’s `endpoints`.'),
  model: z.string({ error: 'missing_model' }).min(1, { error: 'missing_model' }),
});

const estimateSchema = z
  .strictObject({
    object: z.literal('estimate'),
    model: z.string(),
    endpoint: z.enum(ENDPOINTS),
    credits: z.number().describe('What the call would reserve.'),
    factors: z.strictObject({
      mode: z.string(),
      once: z.number().describe('Credits charged once, which no ratio multiplies.'),
      units: z.array(z.strictObject({ unit: z.string(), count: z.number(), per: z.number(), rate: z.number() })),
      ratios: z.array(z.strictObject({ map: z.string(), key: z.string(), ratio: z.number() })),
    }),
  })
  .meta({ id: 'Estimate' });

const ESTIMATE_CODES: readonly ErrorCode[] = [
  'missing_model',
  'model_not_found',
  'missing_prompt',
  'missing_messages',
  'missing_input',
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

export function estimateRoutes(routes: Routes, { catalogue }: HttpDeps): void {
  routes.add(
    {
      method: 'POST',
      path: '/v1/estimate',
      summary: 'What a create call would reserve: its body plus `endpoint`',
      access: 'caller',
      scope: 'any',
      console: 'run',
      body: { kind: 'json', schema: estimateBody, bytesMax: ESTIMATE_BODY_BYTES_MAX },
      answers: { 200: estimateSchema },
      codes: ESTIMATE_CODES,
    },
    ({ body, exact, caller }) => {
      const model = requireModel(catalogue.snapshot, caller.groups, body.model, body.endpoint);
      const { endpoint: _, ...asked } = exact();
      const { units, selectors } = measured(body.endpoint, body, asked, model);
      const { amount } = quote(model.pricing, selectors, units);
      const { mode, once, units: priced, ratios } = chargeFactors(model.pricing, selectors, units);
      const counted = priced.map((factor) => ({ ...factor, unit: unitName(factor.unit) }));
      return {
        object: 'estimate',
        model: model.id,
        endpoint: body.endpoint,
        credits: creditsToNumber(amount),
        factors: { mode, once, units: counted, ratios },
      };
    },
  );
}

/** Refuses what the create call itself would refuse of this body. */
function measured(endpoint: Endpoint, body: unknown, exact: JsonObject, model: ListedModel): Measures {
  switch (endpoint) {
    case 'images':
    case 'image_edits':
      // An edit may bring its pictures as files, for which an estimate has no place.
      return estimateMedia(toImageRequest(parseWith(imageSchemas[endpoint], body), exact, 'images'), endpoint, model);
    case 'videos':
      return estimateMedia(toVideoRequest(parseWith(videoSchema, body), exact), endpoint, model);
    case 'audio_speech':
    case 'audio_music':
      return estimateMedia(toSoundRequest(parseWith(soundSchema, body), exact), endpoint, model);
    case 'chat': {
      const { messages, tools, maxOutputTokens, n } = toChatRequest(parseWith(chatSchema, body), exact);
      return measureTokens(estimatePromptTokens([messages, tools]), maxOutputTokens, n, model);
    }
    case 'native': {
      const { inputTokens, maxOutputTokens, answers } = nativeTokensOf(body);
      return measureTokens(inputTokens, maxOutputTokens, answers, model);
    }
    case 'transcriptions':
      return measureTranscription(clipSeconds(body));
  }
}

function estimateMedia(mediaRequest: MediaRequest<unknown>, endpoint: Endpoint, model: ListedModel): Measures {
  const request = inPublishedWords(model, mediaRequest);
  checkFits(model.accepts, request);
  return measureMedia(request, endpoint, model);
}

const NO_LENGTH = { error: 'invalid_duration' };
const clip = z.looseObject({
  duration_seconds: z.coerce.number(NO_LENGTH).min(0, NO_LENGTH).max(SECONDS_MAX, NO_LENGTH).nullish(),
});

/** A clip is measured from its bytes when it is sent; an estimate has to be told. */
function clipSeconds(body: unknown): number {
  const { duration_seconds } = parseWith(clip, body);
  if (typeof duration_seconds === 'number') return duration_seconds;
  throw new ApiError('invalid_duration', {
    message: 'Give the length of the clip as "duration_seconds".',
    param: 'duration_seconds',
  });
}
