import { z } from 'zod';
import {
  type Measures,
  measureMedia,
  measureTokens,
  measureTranscription,
  type PricedModel,
  quote,
} from '../billing/index.ts';
import type { Endpoint } from '../configuration/index.ts';
import type { MicroCredits } from '../credits.ts';
import { ApiError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { SECONDS_MAX } from '../limits.ts';
import { parseWith } from '../parse.ts';
import { type ChargeFactors, chargeFactors } from '../pricing/index.ts';
import { checkFits, inPublishedWords } from '../routing/index.ts';
import {
  type ChatRequest,
  chatSchema,
  embeddings,
  imageSchemas,
  type MediaRequest,
  nativeTokensOf,
  soundSchema,
  toChatRequest,
  toImageRequest,
  toSoundRequest,
  toVideoRequest,
  videoSchema,
} from '../schemas/index.ts';
import { estimatePromptTokens } from '../text/index.ts';
import { estimateInputTokens } from './embedding-order.ts';

/**
 * What a create call with this body would reserve, and of which factors. Refuses what the create call itself would refuse
 * of the body; `exact` is the same body with its numbers as they were sent.
 */
export function estimateCall(model: PricedModel, endpoint: Endpoint, body: unknown, exact: JsonObject): Estimate {
  return estimateOf(model, measureCall(model, endpoint, body, exact));
}

/** The same of a chat call, whichever format it came in; `writesCache` as its format says. */
export function estimateChat(model: PricedModel, request: ChatRequest, writesCache = never): Estimate {
  return estimateOf(model, measureChat(model, request, writesCache));
}

const never = () => false;

interface Estimate {
  readonly amount: MicroCredits;
  readonly factors: ChargeFactors;
}

function estimateOf(model: PricedModel, { units, selectors }: Measures): Estimate {
  const { amount } = quote(model.pricing, selectors, units);
  return { amount, factors: chargeFactors(model.pricing, selectors, units) };
}

function measureCall(model: PricedModel, endpoint: Endpoint, body: unknown, exact: JsonObject): Measures {
  switch (endpoint) {
    case 'images':
    case 'image_edits':
      // An edit may bring its pictures as files, for which an estimate has no place.
      return measureFitting(toImageRequest(parseWith(imageSchemas[endpoint], body), exact, 'images'), endpoint, model);
    case 'videos':
      return measureFitting(toVideoRequest(parseWith(videoSchema, body), exact), endpoint, model);
    case 'audio_speech':
    case 'audio_music':
      return measureFitting(toSoundRequest(parseWith(soundSchema, body), exact), endpoint, model);
    case 'chat':
      return measureChat(model, toChatRequest(parseWith(chatSchema, body), exact));
    case 'native':
      return measureTokens(nativeTokensOf(body), model);
    case 'embeddings': {
      const { input } = embeddings.toEmbeddingRequest(parseWith(embeddings.embeddingSchema, body), exact);
      return measureTokens({ inputTokens: estimateInputTokens(input), maxOutputTokens: 0, answers: 1 }, model);
    }
    case 'transcriptions':
      return measureTranscription(clipSeconds(body));
  }
}

function measureChat(model: PricedModel, chat: ChatRequest, writesCache = never): Measures {
  const { messages, tools, maxOutputTokens, n: answers } = chat;
  const inputTokens = estimatePromptTokens([messages, tools]);
  return measureTokens({ inputTokens, maxOutputTokens, answers, writesCache }, model);
}

function measureFitting(mediaRequest: MediaRequest<unknown>, endpoint: Endpoint, model: PricedModel): Measures {
  const request = inPublishedWords(model, mediaRequest);
  checkFits(model.accepts, request);
  return measureMedia(request, endpoint, model);
}

const NO_LENGTH = { error: 'invalid_duration' };
const clip = z.looseObject({
  duration_seconds: z.coerce.number(NO_LENGTH).min(0, NO_LENGTH).max(SECONDS_MAX, NO_LENGTH).nullish(),
});

/** A create call measures its clip from the bytes; an estimate has none, and needs the length as a field. */
function clipSeconds(body: unknown): number {
  const { duration_seconds } = parseWith(clip, body);
  if (typeof duration_seconds === 'number') return duration_seconds;
  throw new ApiError('invalid_duration', {
    message: 'Give the length of the clip as "duration_seconds".',
    param: 'duration_seconds',
  });
}
