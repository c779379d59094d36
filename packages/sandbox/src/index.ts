/**
 * The vendor that works offline. Hides how replies and vectors are made up, how media are drawn, composed and encoded in threads,
 * and the synthesiser and recogniser behind speech.
 */
import type { VendorWork } from '../../../src/vendors/vendor.ts';
import { chatWork } from './chat.ts';
import { embeddingWork } from './embedding.ts';
import { FailureCounts } from './faults.ts';
import { imageKind } from './image.ts';
import { musicKind } from './music.ts';
import { nativeWork } from './native.ts';
import { speechWork } from './speech.ts';
import { Studio } from './studio/studio.ts';
import { taskWork } from './tasks.ts';
import { transcriptionWork } from './transcription.ts';
import { videoKind } from './video.ts';
import { listenerEngine, speakerEngine } from './voice/engines.ts';

const failures = new FailureCounts();
const studio = new Studio();

/** Answers and makes media on this machine, without a key or a network; fails when a request asks it to. */
export const sandbox: VendorWork = {
  chat: chatWork(failures),
  native: nativeWork(failures),
  embedding: embeddingWork(failures),
  image: taskWork(imageKind, failures, studio),
  video: taskWork(videoKind, failures, studio),
  music: taskWork(musicKind, failures, studio),
  speech: speechWork(failures, speakerEngine()),
  transcription: transcriptionWork(failures, listenerEngine()),
};
