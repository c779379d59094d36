import type { SampleEndpoint } from '../api/endpoints.ts';
import type { CatalogueModel } from '../api/schema.ts';
import type { SampleCall } from './samples.ts';

/** The least that a model can be asked on an endpoint, for a page that has nothing better. */
export function sampleBody(
  endpoint: SampleEndpoint,
  model: string,
  card?: CatalogueModel,
): Pick<SampleCall, 'body' | 'fileName'> {
  switch (endpoint) {
    case 'chat':
      return { body: { model, messages: [{ role: 'user', content: 'What is 12 * 7?' }] } };
    case 'embeddings':
      return { body: { model, input: ['a toll gate by the sea', 'the gate opens at dawn'] } };
    case 'images':
      return { body: { model, prompt: 'a toll gate at sunrise by the sea' } };
    case 'image_edits':
      return { body: { model, prompt: 'the same at night', image: 'https://…' } };
    case 'videos':
      return { body: { model, prompt: 'waves at a gate', seconds: Math.min(5, card?.accepts.seconds_max ?? 5) } };
    case 'audio_music':
      return {
        body: { model, prompt: 'a calm waltz', duration_seconds: Math.min(20, card?.accepts.seconds_max ?? 20) },
      };
    case 'audio_speech':
      return { body: speechBody(model, card) };
    case 'transcriptions':
      return { body: { model, response_format: 'verbose_json' }, fileName: 'speech.mp3' };
  }
}

function speechBody(model: string, card: CatalogueModel | undefined): Readonly<Record<string, unknown>> {
  if (card?.accepts.voice_design === true) return { model, voice_description: 'a calm old ferryman' };
  const input = 'Every traveller pays the same fair price at this gate.';
  return card?.accepts.voice_sample === 'required'
    ? { model, input, reference_audio: ['https://…'] }
    : { model, input };
}
