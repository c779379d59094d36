import { type SpeechStream, speak } from '../../calls/index.ts';
import { unixSeconds } from '../../clock.ts';
import { creditsToNumber, type MicroCredits } from '../../credits.ts';
import { randomBase62 } from '../../ids.ts';
import { AUDIO_JSON_BYTES_MAX } from '../../limits.ts';
import { soundSchema, toSoundRequest } from '../../schemas/index.ts';
import type { HttpDeps } from '../deps.ts';
import { type AudioStream, sendAudio } from '../edge/audio.ts';
import type { Routes } from '../edge/route.ts';
import { previewsView, speechView, spokenSchema } from '../views/speech.ts';
import { CALL_CODES, callContext, SOUND_CODES } from './call.ts';

export function speechRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'POST',
      path: '/v1/audio/speech',
      summary: 'Read text aloud; answers with the sound itself, or with JSON where `output` asks for it',
      access: 'caller',
      scope: 'user:inference:audio',
      console: 'run',
      logged: 'audio_speech',
      example: { model: 'sandbox/speech', input: 'Good morning. The gate is open.' },
      body: { kind: 'json', schema: soundSchema, bytesMax: AUDIO_JSON_BYTES_MAX },
      answers: { 200: spokenSchema },
      otherMedia: ['audio/*'],
      codes: [
        ...CALL_CODES,
        ...SOUND_CODES,
        'missing_model',
        'conflicting_parameters',
        'unsupported_media_url_scheme',
        'invalid_media_url',
        'invalid_input_url',
        'url_in_extra',
        'empty_audio_response',
        'upstream_response_too_large',
        'job_service_unavailable',
        'database_unavailable',
        'request_canceled',
      ],
    },
    async ({ body, exact, caller, request, reply }) => {
      const soundRequest = toSoundRequest(body, exact());
      const spoken = await speak(deps, caller, soundRequest, callContext(request, reply));
      const requested = { ...soundRequest, created: unixSeconds(deps.clock.now()) };
      switch (spoken.kind) {
        case 'stream':
          await sendAudio(reply, audioStreamOf(spoken), deps.log);
          return reply;
        case 'clips':
          return speechView(requested, spoken);
        case 'previews':
          return previewsView(requested, spoken);
      }
    },
  );
}

const CHARGED = 'x-credits-charged';

/** What the call cost stands in a header where it is known from the start, else behind the sound. */
function audioStreamOf({ sound, pieces, credits, charged }: SpeechStream): AudioStream {
  return {
    mimeType: sound.mimeType,
    fileName: `speech-${randomBase62(12)}.${sound.extension}`,
    pieces,
    headers: credits === undefined ? { trailer: CHARGED } : chargedOf(credits),
    trailers: () => (credits === undefined ? chargedOf(charged()) : {}),
  };
}

function chargedOf(credits: MicroCredits | undefined): Record<string, string> {
  return credits === undefined ? {} : { [CHARGED]: String(creditsToNumber(credits)) };
}
