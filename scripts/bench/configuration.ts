/** A configuration with one model of each kind that is measured, served by the bench's own upstreams. */
export function configurationFor(url: string, studioUrl = url): string {
  return JSON.stringify({
    upstreams: [
      { id: 'fake', vendor: 'openai', base_url: `${url}/v1` },
      { id: 'studio', vendor: 'openai', base_url: `${studioUrl}/v1` },
      { id: 'queue', vendor: 'fal', base_url: studioUrl, api_key: 'key' },
      { id: 'fake-native', vendor: 'gemini', base_url: url, api_key: 'key' },
    ],
    models: [CHAT, SLOW_CHAT, NATIVE, EMBEDDING, INSTANT, SLOW, SPEECH, TRANSCRIPTION],
  });
}

const CHAT = textModel('bench/chat', 'chat', { upstream: 'fake', model: 'upstream-model' });
/** The upstream knows by the name that it is to take its time. */
const SLOW_CHAT = textModel('bench/slow-chat', 'chat', { upstream: 'fake', model: 'slow-chat' });
const NATIVE = textModel('bench/native', 'native', { upstream: 'fake-native', model: 'upstream-model' });
const EMBEDDING = textModel('bench/embedding', 'embeddings', { upstream: 'fake', model: 'upstream-model' });

/** Pictures that are there at once, and clips that never are. */
const INSTANT = {
  id: 'bench/instant',
  modality: 'image',
  owned_by: 'bench',
  endpoints: ['images'],
  pricing: { mode: 'per_image', credits: { base: 1 } },
  routes: [{ upstream: 'studio', model: 'upstream-model' }],
};
const SLOW = {
  id: 'bench/slow',
  modality: 'video',
  owned_by: 'bench',
  endpoints: ['videos'],
  pricing: { mode: 'per_second', credits: { per_second: 1 } },
  accepts: { seconds_max: 5 },
  routes: [{ upstream: 'queue', model: 'bench/slow' }],
};

const SPEECH = {
  id: 'bench/speech',
  modality: 'audio',
  owned_by: 'bench',
  endpoints: ['audio_speech'],
  pricing: { mode: 'per_second', credits: { per_second: 0.001 } },
  routes: [{ upstream: 'fake', model: 'upstream-model' }],
};

const TRANSCRIPTION = {
  id: 'bench/transcription',
  modality: 'audio',
  owned_by: 'bench',
  endpoints: ['transcriptions'],
  pricing: { mode: 'per_second', credits: { per_second: 0.000001 } },
  routes: [{ upstream: 'fake', model: 'upstream-model' }],
};

function textModel(id: string, endpoint: 'chat' | 'native' | 'embeddings', route: object): object {
  return {
    id,
    modality: 'chat',
    owned_by: 'bench',
    endpoints: [endpoint],
    max_output_tokens: 100,
    pricing: { mode: 'per_token', credits: { input_per_k: 0.001, output_per_k: 0.002 } },
    routes: [route],
  };
}
