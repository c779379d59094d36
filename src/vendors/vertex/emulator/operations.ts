// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
type Json = any;

interface OperationAnswer {
  readonly status: number;
  readonly document: Record<string, unknown>;
}

/** How an operation ends: the second is all of it taken out by moderation, the third refused by it in words. */
export type Ending = 'made' | 'filtered' | 'refused' | 'invalid' | 'failed' | 'bucket' | 'lost';

interface Operation {
  readonly name: string;
  readonly ending: Ending;
  reads: number;
}

const FIELDS = ['instances', 'parameters', 'labels'];
const INSTANCE_FIELDS = ['prompt', 'image', 'lastFrame', 'video', 'referenceImages', 'mask'];
const PARAMETERS: Readonly<Record<string, (value: Json) => boolean>> = {
  sampleCount: (count) => Number.isInteger(count) && count >= 1 && count <= 4,
  durationSeconds: (seconds) => [4, 6, 8].includes(seconds),
  aspectRatio: (ratio) => ['16:9', '9:16'].includes(ratio),
  resolution: (tier) => ['720p', '1080p', '4k'].includes(tier),
  seed: (seed) => Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32,
  fps: (fps) => fps === 24,
  generateAudio: (isWanted) => typeof isWanted === 'boolean',
  negativePrompt: (text) => typeof text === 'string',
  personGeneration: (who) => ['dont_allow', 'allow_adult', 'allow_all'].includes(who),
  enhancePrompt: (isWanted) => typeof isWanted === 'boolean',
  compressionQuality: (quality) => ['optimized', 'lossless'].includes(quality),
  resizeMode: (mode) => ['pad', 'crop'].includes(mode),
  storageUri: (uri) => /^gs:\/\//.test(uri),
  pubsubTopic: (topic) => typeof topic === 'string',
};

/** Work that takes a while: clips, begun by one action and asked after by another. */
export class Operations {
  /** How often one is asked after before it is done. */
  readsUntilDone = 1;
  /** Of those to come, in order; the rest are made. */
  readonly endings: Ending[] = [];
  readonly all: Operation[] = [];
  readonly #clip: Buffer;
  readonly #place: string;

  /** `place` is project and location, as they stand in names. */
  constructor(clip: Buffer, place: string) {
    this.#clip = clip;
    this.#place = place;
  }

  begin(model: string, body: Json): OperationAnswer {
    if (!/^veo-/.test(model)) return refusal(404, 'NOT_FOUND', `Publisher model ${model} was not found.`);
    const fault = bodyFault(body);
    if (fault !== undefined) return refusal(400, 'INVALID_ARGUMENT', fault);
    const name = `${this.#place}/publishers/google/models/${model}/operations/${this.all.length + 1}`;
    const usual = body.parameters?.storageUri === undefined ? 'made' : 'bucket';
    this.all.push({ name, ending: this.endings.shift() ?? usual, reads: 0 });
    return { status: 200, document: { name } };
  }

  /** Under another model than its own an operation is not known. */
  read(model: string, body: Json): OperationAnswer {
    const { operationName, ...others } = body;
    const isForm = typeof operationName === 'string' && Object.keys(others).length === 0;
    if (!isForm) return refusal(400, 'INVALID_ARGUMENT', 'operationName alone is expected.');
    const operation = this.all.find(({ name }) => name === operationName && name.includes(`/models/${model}/`));
    if (operation === undefined || operation.ending === 'lost') {
      return refusal(404, 'NOT_FOUND', 'The operation was not found.');
    }
    const { name, ending } = operation;
    operation.reads++;
    if (operation.reads <= this.readsUntilDone) return { status: 200, document: { name } };
    return { status: 200, document: { name, done: true, ...this.#result(ending) } };
  }

  #result(ending: Ending): Record<string, unknown> {
    const response = { '@type': 'type.googleapis.com/cloud.ai.large_models.vision.GenerateVideoResponse' };
    const mimeType = 'video/mp4';
    switch (ending) {
      case 'made':
        return { response: { ...response, videos: [{ bytesBase64Encoded: this.#clip.toString('base64'), mimeType }] } };
      case 'bucket':
        return { response: { ...response, videos: [{ gcsUri: 'gs://bucket/clip.mp4', mimeType }] } };
      case 'filtered':
        return { response: { ...response, raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['Support codes: 1'] } };
      case 'refused':
        return {
          error: { code: 3, message: 'The input image violates Vertex AI’s usage guidelines. Support codes: 1' },
        };
      case 'invalid':
        return { error: { code: 3, message: 'The image cannot be read.' } };
      case 'failed':
      case 'lost':
        return { error: { code: 13, message: 'Internal error.' } };
    }
  }
}

function bodyFault({ instances, parameters = {}, ...others }: Json): string | undefined {
  const unknown = Object.keys(others).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) return `Unknown name "${unknown}": Cannot find field.`;
  if (!Array.isArray(instances) || instances.length !== 1) return 'Exactly one instance is expected.';
  const odd = Object.keys(parameters).find((name) => PARAMETERS[name]?.(parameters[name]) !== true);
  return odd === undefined ? instanceFault(instances[0], parameters) : `Invalid parameter ${odd}.`;
}

function instanceFault(instance: Json, { durationSeconds = 8 }: Json): string | undefined {
  const unknown = Object.keys(instance).find((name) => !INSTANCE_FIELDS.includes(name));
  if (unknown !== undefined) return `Unknown field of the instance: ${unknown}.`;
  const { prompt, image, lastFrame, video, referenceImages = [] } = instance;
  const isText = prompt === undefined || (typeof prompt === 'string' && prompt !== '');
  if (!isText || (prompt === undefined && image === undefined && video === undefined)) return 'A prompt is needed.';
  const pictures = [image, lastFrame, ...referenceImages.map((reference: Json) => reference.image ?? {})];
  if (!pictures.every((picture) => picture === undefined || isPicture(picture))) return 'An image cannot be read.';
  if (lastFrame !== undefined && image === undefined) return 'lastFrame needs an image.';
  if (referenceImages.length === 0) return undefined;
  const areAssets = referenceImages.every((reference: Json) => /^(asset|style)$/i.test(reference.referenceType));
  if (!areAssets || referenceImages.length > 3 || image !== undefined || prompt === undefined) {
    return 'referenceImages are one to three of a type, with a prompt and without an image.';
  }
  return durationSeconds === 8 ? undefined : 'Clips by reference images have eight seconds.';
}

function isPicture({ bytesBase64Encoded: bytes = '', gcsUri, mimeType }: Json): boolean {
  const isThere = gcsUri === undefined ? /^[\w+/]+={0,2}$/.test(bytes) : /^gs:\/\//.test(gcsUri) && bytes === '';
  return isThere && ['image/jpeg', 'image/png', 'image/webp'].includes(mimeType);
}

function refusal(code: number, status: string, message: string): OperationAnswer {
  return { status: code, document: { error: { code, message, status } } };
}
