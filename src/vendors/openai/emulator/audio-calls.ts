import assert from 'node:assert/strict';
import { plainSound, plainTranscription } from '../../../../test/support/plain-requests.ts';
import type { SoundRequest, TranscriptionRequest } from '../../../schemas/index.ts';
import { type AudioFile, inMemoryMedia, type Media, type Transcript, type Upstream } from '../../index.ts';
import type { OpenAiEmulator, OpenAiOptions } from '../emulator.ts';
import { work as vendor } from '../work.ts';
import { withEmulator } from './calls.ts';

assert.ok(vendor.speech && vendor.transcription);
export const { speech, transcription } = { speech: vendor.speech, transcription: vendor.transcription };

/** A request that asks for nothing but its words. */
export function soundRequest(fields: Partial<SoundRequest<Media>> = {}): SoundRequest<Media> {
  return plainSound({ input: 'Hello there.', ...fields });
}

export function audioFile(bytes: Buffer, mimeType: string, extension: string, seconds = 1): AudioFile {
  return { ...inMemoryMedia(bytes, mimeType), extension, seconds };
}

type Run = (emulator: OpenAiEmulator, upstream: Upstream) => Promise<void>;

/** An upstream that has the author's voice. */
export function withSpeech(run: Run, options: OpenAiOptions = {}): Promise<void> {
  return withEmulator(options, (emulator, upstream) => run(emulator, { ...upstream, model: 'gpt-4o-mini-tts' }));
}

/** An upstream that has the author's ear. */
export function withTranscription(run: Run, options: OpenAiOptions = {}): Promise<void> {
  return withEmulator(options, (emulator, upstream) => run(emulator, { ...upstream, model: 'whisper-1' }));
}

/** All of a sound. */
export async function spoken(fields: Partial<SoundRequest<Media>>, upstream: Upstream): Promise<Buffer> {
  const request = soundRequest(fields);
  speech.check(request, upstream.model);
  return Buffer.concat(await Array.fromAsync((await speech.speak(request, upstream)).pieces));
}

export async function transcribe(
  fields: Partial<TranscriptionRequest>,
  audio: AudioFile,
  upstream: Upstream,
): Promise<Transcript> {
  const request = plainTranscription(fields);
  transcription.check(request, upstream.model);
  const answer = await transcription.submit(request, audio, upstream);
  assert.ok(answer.state === 'transcribed');
  return answer.transcript;
}
