import type {
  ImageToVideoCreateParams,
  TextToImageCreateParams,
  TextToVideoCreateParams,
} from '@runwayml/sdk/resources';
import { between, type Fields, flag, list, object, oneOf, type Rule, seed, text, uri } from './rules.ts';

interface Model {
  readonly fields: Fields;
  readonly required: readonly string[];
}

type Ratio<Params, Model> = Extract<Params, { model: Model }> extends { ratio?: infer Value } ? Value : never;
type TextRatio<Model extends TextToVideoCreateParams['model']> = Ratio<TextToVideoCreateParams, Model>;
type FrameRatio<Model extends ImageToVideoCreateParams['model']> = Ratio<ImageToVideoCreateParams, Model>;
type ImageRatio<Model extends TextToImageCreateParams['model']> = Ratio<TextToImageCreateParams, Model>;

const image = uri('image');
const videos = list(object({ type: oneOf('video'), uri: uri('video') }), 1, 3);
const audios = list(object({ type: oneOf('audio'), uri: uri('audio') }), 1, 3);
const pictures = (max: number) => list(object({ uri: image, tag: text(16) }, ['uri']), 1, max);

/** One picture, or a list with a position each. */
function frames(...positions: readonly string[]): Rule {
  const many = list(object({ uri: image, position: oneOf(...positions) }), 1, positions.length);
  return (value) => (Array.isArray(value) ? many(value) : image(value));
}

function model(fields: Fields, ...required: readonly string[]): Model {
  return { fields, required: ['model', ...required] };
}

const prompt1000 = text(1000);
const gen45 = { promptText: prompt1000, duration: between(2, 10, true), seed, outputFormat: oneOf('mp4', 'prores') };
const GEN4_RATIOS = [
  ...(['1280:720', '720:1280', '1104:832', '960:960', '832:1104', '1584:672'] as const),
] satisfies FrameRatio<'gen4_turbo'>[];
const VEO_RATIOS = ['1280:720', '720:1280', '1080:1920', '1920:1080'] satisfies TextRatio<'veo3.1'>[];
const veo = {
  promptText: prompt1000,
  ratio: oneOf(...VEO_RATIOS),
  audio: flag,
  duration: oneOf(4, 6, 8),
  negativePrompt: text(),
  seed,
};
const SEEDANCE_RATIOS = [
  ...(['992:432', '864:496', '752:560', '640:640', '560:752', '496:864'] as const),
  ...(['1470:630', '1280:720', '1112:834', '960:960', '834:1112', '720:1280'] as const),
  ...(['2206:946', '1920:1080', '1664:1248', '1440:1440', '1248:1664', '1080:1920'] as const),
  ...(['3840:1646', '3840:2160', '3840:2880', '3840:3840', '2880:3840', '2160:3840'] as const),
] satisfies TextRatio<'seedance2'>[];
const autoOr =
  (from: number, to: number): Rule =>
  (value) =>
    value === 'auto' ? undefined : between(from, to)(value);
const seedance = {
  promptText: text(3500),
  audio: flag,
  duration: autoOr(4, 15),
  ratio: oneOf(...SEEDANCE_RATIOS),
  referenceAudio: audios,
  seed,
};
const seedanceReferences = { references: pictures(9), referenceVideos: videos };
const HAILUO_RATIOS = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'] satisfies TextRatio<'hailuo3'>[];
const hailuo = {
  promptText: text(),
  duration: between(1, 15, true),
  ratio: oneOf('adaptive', ...HAILUO_RATIOS),
  resolution: oneOf('768p', '2k', '768P', '2K'),
  referenceAudio: audios,
};
const hailuoReferences = { references: pictures(9), referenceVideos: videos };
const WAN_AUTO = ['auto_480p', 'auto_720p', 'auto_1080p'] satisfies FrameRatio<'wan3'>[];
const WAN_RATIOS = [
  ...(['832:480', '720:544', '624:624', '544:720', '480:832'] as const),
  ...(['1280:720', '1104:832', '960:960', '832:1104', '720:1280'] as const),
  ...(['1920:1080', '1648:1248', '1440:1440', '1248:1648', '1080:1920'] as const),
] satisfies TextRatio<'wan3'>[];
const wan = { promptText: text(), audio: flag, duration: between(2, 15, true), referenceAudio: audios };
const OMNI_RATIOS = [
  ...(['640:360', '360:640', '1280:720', '720:1280'] as const),
  ...(['1920:1080', '1080:1920', '3840:2160', '2160:3840'] as const),
] satisfies TextRatio<'gemini_omni_flash_1.1'>[];
const omni = { promptText: text(), duration: autoOr(3, 10), ratio: oneOf(...OMNI_RATIOS) };
const h3 = {
  promptText: text(),
  duration: between(1, 15, true),
  promptExpansionMode: oneOf('disabled', 'balanced', 'quality'),
  resolution: oneOf('480p', '768p'),
  seed,
};

const GEN4_IMAGE_RATIOS = [
  ...(['1024:1024', '1080:1080', '1168:880', '1360:768', '1440:1080', '1080:1440', '1808:768'] as const),
  ...(['1920:1080', '1080:1920', '2112:912', '1280:720', '720:1280', '720:720', '960:720'] as const),
  ...(['720:960', '1680:720'] as const),
] satisfies ImageRatio<'gen4_image'>[];
const gen4Image = { promptText: prompt1000, ratio: oneOf(...GEN4_IMAGE_RATIOS), referenceImages: pictures(3), seed };
const GPT_RATIOS = [
  ...(['2048:880', '1920:1088', '1920:1280', '1920:1440', '1920:1536', '1920:1920', '1536:1920'] as const),
  ...(['1440:1920', '1280:1920', '1088:1920', '2912:1248', '2560:1440', '2560:1712', '2560:1920'] as const),
  ...(['2560:2048', '2560:2560', '2048:2560', '1920:2560', '1712:2560', '1440:2560', '3840:1648'] as const),
  ...(['3840:2160', '3504:2336', '3264:2448', '3200:2560', '2880:2880', '2560:3200', '2448:3264'] as const),
  ...(['2336:3504', '2160:3840', 'auto'] as const),
] satisfies ImageRatio<'gpt_image_2'>[];
const gpt = {
  promptText: text(32_000),
  ratio: oneOf(...GPT_RATIOS),
  outputCount: between(1, 10, true),
  referenceImages: pictures(16),
};
const GEMINI_RATIOS = [
  ...(['1344:768', '768:1344', '1024:1024', '1184:864', '864:1184', '1536:672', '832:1248'] as const),
  ...(['1248:832', '896:1152', '1152:896', '2048:2048', '1696:2528', '2528:1696', '1792:2400'] as const),
  ...(['2400:1792', '1856:2304', '2304:1856', '1536:2752', '2752:1536', '3168:1344', '4096:4096'] as const),
  ...(['3392:5056', '5056:3392', '3584:4800', '4800:3584', '3712:4608', '4608:3712', '3072:5504'] as const),
  ...(['5504:3072', '6336:2688'] as const),
] satisfies ImageRatio<'gemini_image3_pro'>[];
const SEEDREAM_RATIOS = [
  ...(['1024:1024', '1184:896', '896:1184', '1376:768', '768:1376', '1296:864', '864:1296'] as const),
  ...(['2048:2048', '2304:1728', '1728:2304', '2720:1530', '1530:2720', '2496:1664', '1664:2496'] as const),
  ...(['auto_1k', 'auto_2k'] as const),
] satisfies ImageRatio<'seedream5_pro'>[];

const PRESETS = ['Maya', 'Arjun', 'Serene', 'Bernard', 'Leslie', 'Noah', 'Rachel'];
const preset = object({ type: oneOf('runway-preset'), presetId: oneOf(...PRESETS) });
const audio = uri('audio');
const share = between(0, 1);
const seedAudio = {
  promptText: text(),
  outputFormat: oneOf('wav', 'mp3', 'ogg_opus'),
  sampleRate: oneOf(8000, 16_000, 24_000, 32_000, 44_100, 48_000),
  pitchRate: between(-12, 12),
  speechRate: between(-50, 100),
  loudnessRate: between(-50, 100),
};

/** By route and model. */
export const MODELS: Readonly<Record<string, Readonly<Record<string, Model>>>> = {
  text_to_video: {
    'gen4.5': model({ ...gen45, ratio: oneOf('1280:720', '720:1280') }, 'promptText', 'ratio', 'duration'),
    'veo3.1': model(veo, 'promptText', 'ratio'),
    seedance2: model({ ...seedance, ...seedanceReferences }, 'promptText'),
    // Only what has a picture or a clip can adapt to it.
    hailuo3: model({ ...hailuo, ...hailuoReferences, ratio: oneOf(...HAILUO_RATIOS) }, 'promptText'),
    wan3: model(
      { ...wan, ratio: oneOf(...WAN_RATIOS, ...WAN_AUTO), references: pictures(10), referenceVideos: videos },
      'promptText',
    ),
    'gemini_omni_flash_1.1': model({ ...omni, references: pictures(3) }, 'promptText'),
    h3_max: model(h3, 'promptText'),
  },
  image_to_video: {
    'gen4.5': model(
      { ...gen45, ratio: oneOf(...GEN4_RATIOS), promptImage: frames('first') },
      ...['promptText', 'promptImage', 'ratio', 'duration'],
    ),
    gen4_turbo: model(
      {
        promptText: prompt1000,
        duration: between(2, 10, true),
        ratio: oneOf(...GEN4_RATIOS),
        promptImage: frames('first'),
        seed,
      },
      ...['promptImage', 'ratio'],
    ),
    'veo3.1': model({ ...veo, promptImage: frames('first', 'last') }, 'promptImage', 'ratio'),
    seedance2: model({ ...seedance, promptImage: frames('first', 'last') }, 'promptImage'),
    hailuo3: model({ ...hailuo, promptImage: frames('first', 'last') }, 'promptText', 'promptImage'),
    wan3: model(
      { ...wan, ratio: oneOf(...WAN_AUTO), promptImage: frames('first', 'last') },
      'promptText',
      'promptImage',
    ),
    'gemini_omni_flash_1.1': model({ ...omni, promptImage: frames('first', 'last') }, 'promptText', 'promptImage'),
    h3_max: model({ ...h3, promptImage: frames('first', 'last') }, 'promptText', 'promptImage'),
  },
  video_to_video: {
    aleph2: model(
      { videoUri: uri('video'), promptText: text(), seed, outputFormat: oneOf('mp4', 'prores') },
      'videoUri',
    ),
    seedance2: model({ ...seedance, ...seedanceReferences, promptVideo: uri('video') }, 'promptVideo'),
    // Of its modes the one that changes a clip in place: it keeps its length and its size.
    seedance2_5: model(
      {
        promptText: text(15_000),
        promptVideo: uri('video'),
        mode: oneOf('edit'),
        duration: oneOf('auto'),
        audio: flag,
        seed,
        references: pictures(30),
        referenceVideos: videos,
        referenceAudio: audios,
      },
      ...['promptText', 'promptVideo', 'mode', 'duration'],
    ),
    hailuo3: model({ ...hailuo, ...hailuoReferences, promptVideo: uri('video') }, 'promptText', 'promptVideo'),
    'gemini_omni_flash_1.1': model(
      { ...omni, videoUri: uri('video'), mode: oneOf('reference', 'extend', 'edit'), references: pictures(3) },
      ...['promptText', 'videoUri'],
    ),
    gemini_omni_flash: model(
      { promptText: text(), videoUri: uri('video'), references: pictures(3) },
      'promptText',
      'videoUri',
    ),
  },
  text_to_image: {
    gen4_image: model(gen4Image, 'promptText', 'ratio'),
    gen4_image_turbo: model(gen4Image, 'promptText', 'ratio', 'referenceImages'),
    gpt_image_2: model(
      {
        ...gpt,
        quality: oneOf('low', 'medium', 'high', 'auto'),
        background: oneOf('transparent', 'opaque', 'auto'),
      },
      ...['promptText', 'ratio'],
    ),
    gpt_image_2_5_flare: model(
      { ...gpt, quality: oneOf('low', 'medium', 'high', 'xhigh', 'max'), background: oneOf('opaque', 'auto') },
      ...['promptText', 'ratio'],
    ),
    gemini_image3_pro: model(
      {
        promptText: text(),
        ratio: oneOf(...GEMINI_RATIOS),
        outputCount: oneOf(1, 4),
        referenceImages: pictures(14),
      },
      ...['promptText', 'ratio'],
    ),
    seedream5_pro: model(
      {
        promptText: text(4000),
        ratio: oneOf(...SEEDREAM_RATIOS),
        outputCount: between(1, 10, true),
        outputFormat: oneOf('png', 'jpeg'),
        grounding: flag,
        referenceImages: pictures(10),
      },
      ...['promptText', 'ratio'],
    ),
  },
  text_to_speech: {
    eleven_multilingual_v2: model({ promptText: prompt1000, voice: preset }, 'promptText', 'voice'),
    eleven_v3: model(
      {
        promptText: text(),
        voice: preset,
        languageCode: text(),
        seed,
        speed: between(0.7, 1.2),
        stability: share,
        style: share,
      },
      ...['promptText', 'voice'],
    ),
    seed_audio: model(
      { ...seedAudio, voice: object({ type: oneOf('reference-audio'), audioUri: audio }) },
      'promptText',
    ),
  },
  sound_effect: {
    seed_audio: model({ ...seedAudio, referenceAudios: list(audio, 1, 3) }, 'promptText'),
    eleven_text_to_sound_v2: model({ promptText: text(), duration: between(0.5, 30), loop: flag }, 'promptText'),
  },
};
