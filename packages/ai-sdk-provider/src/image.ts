import type { ImageModelV4, ImageModelV4CallOptions } from '@ai-sdk/provider';
import type { Tollgate } from '@tollgate/client';
import { answered, callOptions, mediaInput, NAME, ownFields, responseOf } from './call.ts';

/** As many as one request of the gateway may ask for. */
const IMAGES_MAX = 10;

/** With files it changes them, without any it makes new ones. */
export function imageModel(client: Tollgate, modelId: string): ImageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: NAME,
    modelId,
    maxImagesPerCall: IMAGES_MAX,
    supportsFileInputs: true,
    supportsMaskInputs: true,
    async doGenerate(options) {
      const request = imageRequest(modelId, options);
      const isEdit = 'image' in request;
      const path = isEdit ? '/v1/images/edits' : '/v1/images/generations';
      const call = callOptions(options);
      return answered(path, request, async () => {
        const { job, assets } = isEdit
          ? await client.images.editAndWait(request, call)
          : await client.images.generateAndWait(request, call);
        const media = await Promise.all(assets.map((asset) => client.download(asset, { signal: call.signal })));
        return {
          images: await Promise.all(media.map((one) => one.bytes())),
          warnings: [],
          response: responseOf(modelId, new Date(1000 * job.created_at)),
          providerMetadata: {
            [NAME]: {
              // Of all that stands here, the AI SDK hands on this list alone where it joins several calls.
              images: assets.map(({ id, width = null, height = null }) => ({ id, jobId: job.id, width, height })),
              jobId: job.id,
              credits: job.usage?.credits ?? 0,
            },
          },
        };
      });
    },
  };
}

function imageRequest(model: string, options: ImageModelV4CallOptions) {
  const { prompt = '', n, size, aspectRatio, seed, files = [], mask, providerOptions } = options;
  const request = { model, prompt, n, size, aspect_ratio: aspectRatio, seed, ...ownFields(providerOptions) };
  if (files.length === 0 && mask === undefined) return request;
  return { ...request, image: files.map(mediaInput), ...(mask !== undefined && { mask: mediaInput(mask) }) };
}
