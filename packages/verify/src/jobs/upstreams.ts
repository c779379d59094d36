// The upstreams of the chaos: emulators of two vendors in the driver's own process, some of them well, some not.
import { FalEmulator } from '../../../../src/vendors/fal/emulator.ts';
import { OpenAiEmulator } from '../../../../src/vendors/openai/emulator.ts';

/** One piece of work that an upstream did, and will want to be paid for. */
export interface Submission {
  readonly upstream: string;
  readonly prompt: string;
  /** The upstream's own number for it, where it has one. */
  readonly task: string | undefined;
}

const FAL_KEY = 'id:secret';
const POLLS_UNTIL_DONE = 2;
/** Several, so that one that cools down after a refused connection does not keep others from being tried. */
const DEAD_UPSTREAMS = 4;
/** Nothing listens on the port for discarded messages. */
const DEAD_ADDRESS = 'http://127.0.0.1:9/v1';

export const CREDITS_PER_PICTURE = 40;
export const CREDITS_PER_SECOND = 10;

export class Upstreams {
  readonly pictures = new OpenAiEmulator();
  readonly badPictures = new OpenAiEmulator();
  readonly tasks: FalEmulator;
  readonly badTasks: FalEmulator;
  /** Accepts and never finishes. */
  readonly endless: FalEmulator;

  private constructor(video: Buffer) {
    this.tasks = new FalEmulator({ readsUntilDone: POLLS_UNTIL_DONE, files: { video } });
    this.badTasks = new FalEmulator({ readsUntilDone: 1, files: { video } });
    this.endless = new FalEmulator();
  }

  static async start(): Promise<Upstreams> {
    const upstreams = new Upstreams(await smallClip());
    await Promise.all(upstreams.#all.map((one) => one.start()));
    return upstreams;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((one) => one.stop()));
  }

  get #all(): readonly (OpenAiEmulator | FalEmulator)[] {
    return [...Object.values(this.#openAi), ...Object.values(this.#fal)];
  }

  get #openAi(): Readonly<Record<string, OpenAiEmulator>> {
    return { pictures: this.pictures, 'bad-pictures': this.badPictures };
  }

  get #fal(): Readonly<Record<string, FalEmulator>> {
    return { tasks: this.tasks, 'bad-tasks': this.badTasks, endless: this.endless };
  }

  /** All that was ever accepted or done. */
  get submissions(): readonly Submission[] {
    const done = Object.entries(this.#openAi).flatMap(([upstream, { submissions }]) =>
      submissions.map(({ fields }) => ({ upstream, prompt: String(fields.prompt), task: undefined })),
    );
    const accepted = Object.entries(this.#fal).flatMap(([upstream, { tasks }]) =>
      tasks.map(({ id, input }) => ({ upstream, prompt: String(input.prompt), task: id })),
    );
    return [...done, ...accepted];
  }

  /** Where results lie, in the form of the setting that allows them to be fetched. */
  get fileHosts(): string {
    const hosts = [...Object.values(this.#fal).map(({ files }) => files.url), this.badPictures.origin];
    return hosts.map((url) => new URL(url).host).join(',');
  }

  /** The operator's document. */
  get configuration(): unknown {
    const openAi = Object.entries(this.#openAi).map(([id, { url }]) => ({ id, vendor: 'openai', base_url: url }));
    const fal = Object.entries(this.#fal).map(([id, { url }]) => ({
      id,
      vendor: 'fal',
      base_url: url,
      api_key: FAL_KEY,
    }));
    const dead = Array.from({ length: DEAD_UPSTREAMS }, (_, place) => `dead-${place}`);
    const upstreams = [...openAi, ...fal, ...dead.map((id) => ({ id, vendor: 'openai', base_url: DEAD_ADDRESS }))];
    return {
      upstreams: upstreams.map((upstream) => ({ ...upstream, priority: upstream.id.startsWith('bad') ? 10 : 1 })),
      models: [
        pictureModel('photo', { pictures: 'gpt-image-2' }),
        pictureModel('flux', { tasks: 'fal-ai/flux/dev' }),
        // Takes one picture per call.
        pictureModel('single', { tasks: 'fal-ai/flux-2-pro' }),
        pictureModel('bad-photo', { 'bad-pictures': 'gpt-image-2', pictures: 'gpt-image-2' }),
        pictureModel('bad-flux', { 'bad-tasks': 'fal-ai/flux/dev', tasks: 'fal-ai/flux/dev' }),
        pictureModel('endless-flux', { 'bad-tasks': 'fal-ai/flux/dev', endless: 'fal-ai/flux/dev' }),
        clipModel('clip', 'tasks'),
        clipModel('endless-clip', 'endless'),
        ...dead.map((id, place) => pictureModel(`nowhere-${place}`, { [id]: 'gpt-image-2' })),
      ],
    };
  }
}

function pictureModel(name: string, routes: Readonly<Record<string, string>>): unknown {
  return {
    id: `chaos/${name}`,
    modality: 'image',
    owned_by: 'chaos',
    endpoints: ['images', 'image_edits'],
    pricing: { mode: 'per_image', credits: { base: CREDITS_PER_PICTURE } },
    accepts: { n_max: 10, slots: ['reference_images'] },
    routes: Object.entries(routes).map(([upstream, model]) => ({ upstream, model })),
  };
}

function clipModel(name: string, upstream: string): unknown {
  return {
    id: `chaos/${name}`,
    modality: 'video',
    owned_by: 'chaos',
    endpoints: ['videos'],
    pricing: { mode: 'per_second', credits: { per_second: CREDITS_PER_SECOND } },
    accepts: { seconds_max: 10 },
    routes: [{ upstream, model: 'fal-ai/veo3.1' }],
  };
}

/** Two seconds of grey, in a real container. */
async function smallClip(): Promise<Buffer> {
  const [side, frameRate, seconds] = [64, 10, 2];
  const [errors, rejections] = [process.listeners('uncaughtException'), process.listeners('unhandledRejection')];
  const { default: library } = await import('h264-mp4-encoder');
  // The library listens to every error of the process, only to throw it again with the whole of its own text.
  for (const listener of process.listeners('uncaughtException')) {
    if (!errors.includes(listener)) process.off('uncaughtException', listener);
  }
  for (const listener of process.listeners('unhandledRejection')) {
    if (!rejections.includes(listener)) process.off('unhandledRejection', listener);
  }
  const encoder = await library.createH264MP4Encoder();
  Object.assign(encoder, { width: side, height: side, frameRate });
  encoder.initialize();
  for (let frame = 0; frame < frameRate * seconds; frame++) {
    encoder.addFrameRgba(Buffer.alloc(side * side * 4, frame * 10));
  }
  encoder.finalize();
  const clip = Buffer.from(encoder.FS.readFile(encoder.outputFilename));
  encoder.delete();
  return clip;
}
