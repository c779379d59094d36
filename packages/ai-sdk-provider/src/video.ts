import type {
  Experimental_VideoModelV4,
  Experimental_VideoModelV4CallOptions,
  Experimental_VideoModelV4File,
} from '@ai-sdk/provider';
import type { Tollgate, VideoRequest } from '@tollgate/client';
import { answered, callOptions, mediaInput, NAME, ownFields, responseOf } from './call.ts';

export function videoModel(client: Tollgate, modelId: string): Experimental_VideoModelV4 {
  return {
    specificationVersion: 'v4',
    provider: NAME,
    modelId,
    maxVideosPerCall: 1,
    async doGenerate(options) {
      const request = videoRequest(modelId, options);
      const call = callOptions(options);
      return answered('/v1/videos', request, async () => {
        const { job, assets } = await client.videos.generateAndWait(request, call);
        const clips = assets.filter(({ kind }) => kind === 'video');
        const media = await Promise.all(clips.map((clip) => client.download(clip, { signal: call.signal })));
        const videos = media.map(async (one) => ({
          type: 'binary' as const,
          mediaType: one.type,
          data: await one.bytes(),
        }));
        return {
          videos: await Promise.all(videos),
          warnings: [],
          response: responseOf(modelId, new Date(1000 * job.created_at)),
          providerMetadata: { [NAME]: { jobId: job.id, credits: job.usage?.credits ?? 0 } },
        };
      });
    },
  };
}

function videoRequest(model: string, options: Experimental_VideoModelV4CallOptions): VideoRequest {
  const { prompt, aspectRatio, resolution, duration, fps, seed, generateAudio, providerOptions } = options;
  return {
    model,
    prompt,
    seconds: duration,
    size: resolution,
    aspect_ratio: aspectRatio,
    fps,
    seed,
    generate_audio: generateAudio,
    ...frames(options),
    ...references(options.inputReferences ?? []),
    ...ownFields(providerOptions),
  };
}

function frames({ image, frameImages = [] }: Experimental_VideoModelV4CallOptions): Partial<VideoRequest> {
  const fields = frameImages.map((frame) => [frame.frameType, mediaInput(frame.image)] as const);
  return { ...(image !== undefined && { first_frame: mediaInput(image) }), ...Object.fromEntries(fields) };
}

/** Clips to go by can only be named by URL; everything else is a picture. */
function references(files: readonly Experimental_VideoModelV4File[]): Partial<VideoRequest> {
  const clips = files.flatMap((file) => (file.type === 'url' && isVideo(file) ? [file.url] : []));
  const pictures = files.filter((file) => !(file.type === 'url' && isVideo(file))).map(mediaInput);
  return {
    ...(clips.length > 0 && { reference_videos: clips }),
    ...(pictures.length > 0 && { reference_image_urls: pictures }),
  };
}

function isVideo({ mediaType }: Experimental_VideoModelV4File): boolean {
  return mediaType?.startsWith('video/') === true;
}
