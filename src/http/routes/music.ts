import { AUDIO_JSON_BYTES_MAX } from '../../limits.ts';
import { soundSchema, toSoundRequest } from '../../schemas/index.ts';
import type { HttpDeps } from '../deps.ts';
import type { Routes } from '../edge/route.ts';
import { SOUND_CODES } from './call.ts';
import { answerWithJob, CREATE_CODES, JOB_ANSWERS, sentJson } from './create-call.ts';

export function musicRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'POST',
      path: '/v1/audio/music',
      summary: 'Make music; answers with a job',
      access: 'caller',
      scope: 'user:inference:audio',
      console: 'run',
      logged: 'audio_music',
      example: { model: 'sandbox/music', prompt: 'a calm waltz', duration_seconds: 10, instrumental: true },
      body: { kind: 'json', schema: soundSchema, bytesMax: AUDIO_JSON_BYTES_MAX },
      answers: JOB_ANSWERS,
      codes: [...CREATE_CODES, ...SOUND_CODES],
    },
    ({ body, exact, ...call }) => {
      const json = exact();
      const media = toSoundRequest(body, json);
      return answerWithJob(deps, call, { endpoint: 'audio_music', media, fingerprint: sentJson(call, json) });
    },
  );
}
