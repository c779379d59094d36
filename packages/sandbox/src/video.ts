import type { VideoRequest } from '../../../src/schemas/index.ts';
import type { Media } from '../../../src/vendors/vendor.ts';
import { keepPictures } from './inputs.ts';
import { type ShapeRules, sizeOf } from './shape.ts';
import { checkSeed, type Kind, refuse, seedOf } from './tasks.ts';

const SECONDS_USUAL = 4;
const SECONDS_MAX = 60;
const FPS_USUAL = 24;
const FPS_MAX = 60;

/** A tier is the shorter side. Sides are even, because the colours of a video have half its size. */
const RULES: ShapeRules = {
  tiers: new Map([
    ['480p', 480],
    ['720p', 720],
    ['1080p', 1080],
  ]),
  usualTier: '720p',
  measures: 'shorter',
  ratio: { width: 16, height: 9 },
  sideMin: 64,
  sideMax: 1920,
  pixelsMax: 1920 * 1088,
  step: 2,
};

export const videoKind: Kind<VideoRequest<Media>> = {
  check(request) {
    const { seconds, fps } = request;
    sizeOf(request, RULES);
    if (seconds !== undefined && seconds > SECONDS_MAX) refuse('seconds', { atMost: SECONDS_MAX });
    if (fps !== undefined && (fps < 1 || fps > FPS_MAX)) refuse('fps', { from: 1, to: FPS_MAX });
    checkSeed(request);
  },
  perCall: () => 1,
  async plan(request, order) {
    const { firstFrame, lastFrame, inputReference, referenceImages } = request;
    const frames = [firstFrame, lastFrame].filter((frame) => frame !== undefined);
    const insets = [...(inputReference === undefined ? [] : [inputReference]), ...referenceImages];
    const pictures = await keepPictures([...frames, ...insets]);
    const encoded = pictures.map(({ base64 }) => base64);
    const fps = request.fps ?? FPS_USUAL;
    return {
      kind: 'video',
      prompt: request.prompt ?? '',
      unwanted: request.negativePrompt ?? '',
      ...sizeOf(request, RULES, frames.length > 0 ? pictures[0] : undefined),
      frames: Math.max(1, Math.round((request.seconds || SECONDS_USUAL) * fps)),
      fps,
      seed: seedOf({ seed: request.seed, n: 1 }, order, 1),
      isCameraFixed: request.cameraFixed === true,
      hasMark: request.watermark === true,
      hasSound: request.generateAudio === true,
      firstFrame: firstFrame === undefined ? null : (encoded[0] ?? null),
      lastFrame: lastFrame === undefined ? null : (encoded[frames.length - 1] ?? null),
      references: encoded.slice(frames.length),
      notes: notesOf(request),
    };
  },
};

/** Clips and sounds are not read, only mentioned. */
function notesOf({ sourceVideo, referenceVideos, referenceAudios }: VideoRequest<Media>): string[] {
  const counted = (count: number, name: string) => (count === 0 ? [] : [`${count} reference ${name}`]);
  const source = sourceVideo === undefined ? [] : ['from a video'];
  return [...source, ...counted(referenceVideos.length, 'videos'), ...counted(referenceAudios.length, 'sounds')];
}
