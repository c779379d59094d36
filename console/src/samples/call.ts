import type { SampleEndpoint } from '../api/endpoints.ts';

export const PATHS: Readonly<Record<SampleEndpoint, string>> = {
  chat: '/v1/chat/completions',
  images: '/v1/images/generations',
  image_edits: '/v1/images/edits',
  videos: '/v1/videos',
  audio_speech: '/v1/audio/speech',
  audio_music: '/v1/audio/music',
  transcriptions: '/v1/audio/transcriptions',
  embeddings: '/v1/embeddings',
};

const JOB_ENDPOINTS: readonly SampleEndpoint[] = ['images', 'image_edits', 'videos', 'audio_music'];

/** Whether the answer is a job, to be asked after. */
export function makesJob(endpoint: SampleEndpoint): boolean {
  return JOB_ENDPOINTS.includes(endpoint);
}

/** The name of the file that a sample saves its result to. */
export function resultName(endpoint: SampleEndpoint, body: Readonly<Record<string, unknown>>): string {
  switch (endpoint) {
    case 'videos':
      return 'clip.mp4';
    case 'audio_music':
      return `music.${format(body, 'mp3')}`;
    case 'audio_speech':
      return `speech.${format(body, 'mp3')}`;
    case 'images':
    case 'image_edits':
      return `picture.${typeof body.output_format === 'string' ? body.output_format : 'png'}`;
    case 'chat':
    case 'embeddings':
    case 'transcriptions':
      return 'answer.txt';
  }
}

function format(body: Readonly<Record<string, unknown>>, usual: string): string {
  const named = body.response_format ?? body.format;
  return typeof named === 'string' ? named : usual;
}
