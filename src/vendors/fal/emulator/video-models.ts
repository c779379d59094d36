import { anything, between, fileUrl, fileUrls, flag, oneOf, text, textOf, whole } from './fields.ts';
import { model } from './model.ts';

const klingPrompt = textOf(0, 2500);
const omni = { prompt: klingPrompt, image_urls: fileUrls(7), elements: anything };
const seedance = {
  prompt: text,
  aspect_ratio: oneOf('21:9', '16:9', '4:3', '1:1', '3:4', '9:16', 'auto'),
  resolution: oneOf('480p', '720p', '1080p'),
  duration: oneOf('4', '5', '6', '7', '8', '9', '10', '11', '12'),
  camera_fixed: flag,
  enable_safety_checker: flag,
  seed: whole,
};
const veo = {
  prompt: textOf(1, 20_000),
  auto_fix: flag,
  duration: oneOf('4s', '6s', '8s'),
  generate_audio: flag,
  safety_tolerance: oneOf('1', '2', '3', '4', '5', '6'),
};
const seeded = { negative_prompt: text, seed: whole };

export const VIDEO_MODELS = [
  model(
    'fal-ai/kling-video/v2.5-turbo/pro/image-to-video',
    'video',
    {
      prompt: klingPrompt,
      duration: oneOf('5', '10'),
      negative_prompt: klingPrompt,
      cfg_scale: between(0, 1),
      image_url: fileUrl,
      tail_image_url: fileUrl,
    },
    ['prompt', 'image_url'],
  ),
  model(
    'fal-ai/kling-video/v2.6/pro/image-to-video',
    'video',
    {
      prompt: klingPrompt,
      duration: oneOf('5', '10'),
      negative_prompt: klingPrompt,
      generate_audio: flag,
      voice_ids: anything,
      start_image_url: fileUrl,
      end_image_url: fileUrl,
    },
    ['prompt', 'start_image_url'],
  ),
  model(
    'fal-ai/kling-video/v2.6/pro/text-to-video',
    'video',
    {
      prompt: klingPrompt,
      aspect_ratio: oneOf('16:9', '9:16', '1:1'),
      duration: oneOf('5', '10'),
      negative_prompt: klingPrompt,
      cfg_scale: between(0, 1),
      generate_audio: flag,
    },
    ['prompt'],
  ),
  model(
    'fal-ai/kling-video/o1/reference-to-video',
    'video',
    {
      ...omni,
      aspect_ratio: oneOf('16:9', '9:16', '1:1'),
      duration: oneOf('3', '4', '5', '6', '7', '8', '9', '10'),
    },
    ['prompt'],
  ),
  model('fal-ai/kling-video/o1/video-to-video/edit', 'video', { ...omni, keep_audio: flag, video_url: fileUrl }, [
    'prompt',
    'video_url',
  ]),
  model(
    'fal-ai/bytedance/seedance/v1.5/pro/image-to-video',
    'video',
    { ...seedance, generate_audio: flag, image_url: fileUrl, end_image_url: fileUrl },
    ['prompt', 'image_url'],
  ),
  model(
    'fal-ai/bytedance/seedance/v1/lite/reference-to-video',
    'video',
    { ...seedance, resolution: oneOf('480p', '720p'), num_frames: whole, reference_image_urls: fileUrls(4) },
    ['prompt', 'reference_image_urls'],
  ),
  model(
    'bytedance/seedance-2.0/reference-to-video',
    'video',
    {
      prompt: text,
      image_urls: fileUrls(9),
      video_urls: fileUrls(3),
      audio_urls: fileUrls(3),
      resolution: oneOf('480p', '720p'),
      duration: oneOf('auto', '4', '5', '6', '7', '8', '9', '10', '11', '12', '13', '14', '15'),
      aspect_ratio: oneOf('auto', '21:9', '16:9', '4:3', '1:1', '3:4', '9:16'),
      generate_audio: flag,
      seed: whole,
    },
    ['prompt'],
  ),
  model(
    'fal-ai/veo3.1',
    'video',
    { ...veo, ...seeded, aspect_ratio: oneOf('16:9', '9:16'), resolution: oneOf('720p', '1080p') },
    ['prompt'],
  ),
  model(
    'fal-ai/veo3.1/first-last-frame-to-video',
    'video',
    {
      ...veo,
      ...seeded,
      aspect_ratio: oneOf('auto', '16:9', '9:16'),
      resolution: oneOf('720p', '1080p', '4k'),
      first_frame_url: fileUrl,
      last_frame_url: fileUrl,
    },
    ['prompt', 'first_frame_url', 'last_frame_url'],
  ),
  model(
    'fal-ai/veo3.1/reference-to-video',
    'video',
    { ...veo, aspect_ratio: oneOf('16:9', '9:16'), resolution: oneOf('720p', '1080p', '4k'), image_urls: fileUrls(3) },
    ['prompt', 'image_urls'],
  ),
  model('fal-ai/wan/v2.7/image-to-video', 'video', {
    prompt: text,
    audio_url: fileUrl,
    duration: oneOf('2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12', '13', '14', '15'),
    enable_prompt_expansion: flag,
    enable_safety_checker: flag,
    image_url: fileUrl,
    end_image_url: fileUrl,
    video_url: fileUrl,
    negative_prompt: text,
    resolution: oneOf('720p', '1080p'),
    seed: whole,
  }),
];
