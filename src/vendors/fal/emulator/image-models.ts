import { between, fileUrl, fileUrls, flag, oneOf, sizes, text, textOf, whole, wholeBetween } from './fields.ts';
import { model } from './model.ts';

const pictureSize = sizes(14_142);
const several = wholeBetween(1, 4);
const diffused = {
  prompt: text,
  image_size: pictureSize,
  num_images: several,
  num_inference_steps: wholeBetween(1, 50),
  guidance_scale: between(1, 20),
  output_format: oneOf('jpeg', 'png'),
  acceleration: oneOf('none', 'regular', 'high'),
  enable_safety_checker: flag,
  seed: whole,
  sync_mode: flag,
};
const { image_size: _size, ...redrawn } = diffused;
const flux2 = { ...diffused, output_format: oneOf('jpeg', 'png', 'webp'), enable_prompt_expansion: flag };
const pro = {
  prompt: text,
  num_images: several,
  output_format: oneOf('jpeg', 'png'),
  safety_tolerance: oneOf('1', '2', '3', '4', '5', '6'),
  enhance_prompt: flag,
  seed: whole,
  sync_mode: flag,
};
const proRatios = oneOf('21:9', '16:9', '4:3', '3:2', '1:1', '2:3', '3:4', '9:16', '9:21');
const seedream = {
  prompt: text,
  image_size: sizes(4096, 'auto', 'auto_2K', 'auto_4K'),
  num_images: wholeBetween(1, 6),
  max_images: wholeBetween(1, 6),
  enhance_prompt_mode: oneOf('standard', 'fast'),
  enable_safety_checker: flag,
  seed: whole,
  sync_mode: flag,
};
const banana = {
  prompt: text,
  aspect_ratio: oneOf('auto', '21:9', '16:9', '3:2', '4:3', '5:4', '1:1', '4:5', '3:4', '2:3', '9:16'),
  num_images: several,
  output_format: oneOf('jpeg', 'png', 'webp'),
  safety_tolerance: oneOf('1', '2', '3', '4', '5', '6'),
  limit_generations: flag,
  seed: whole,
  sync_mode: flag,
};

export const IMAGE_MODELS = [
  model('fal-ai/flux/dev', 'images', diffused, ['prompt']),
  model('fal-ai/flux/dev/image-to-image', 'images', { ...redrawn, image_url: fileUrl, strength: between(0, 1) }, [
    'prompt',
    'image_url',
  ]),
  model('fal-ai/flux-2/edit', 'images', { ...flux2, image_urls: fileUrls(4) }, ['prompt', 'image_urls']),
  model(
    'fal-ai/flux-2-pro',
    'images',
    {
      prompt: text,
      image_size: pictureSize,
      output_format: oneOf('jpeg', 'png'),
      enable_safety_checker: flag,
      safety_tolerance: oneOf('1', '2', '3', '4', '5'),
      seed: whole,
      sync_mode: flag,
    },
    ['prompt'],
  ),
  model(
    'fal-ai/flux-pro/kontext',
    'images',
    { ...pro, aspect_ratio: proRatios, guidance_scale: between(1, 20), image_url: fileUrl },
    ['prompt', 'image_url'],
  ),
  model('fal-ai/flux-pro/v1/fill', 'images', { ...pro, image_url: fileUrl, mask_url: fileUrl }, [
    'prompt',
    'image_url',
    'mask_url',
  ]),
  model('fal-ai/bytedance/seedream/v4/text-to-image', 'images', seedream, ['prompt']),
  model('fal-ai/bytedance/seedream/v4/edit', 'images', { ...seedream, image_urls: fileUrls(10) }, [
    'prompt',
    'image_urls',
  ]),
  model('fal-ai/nano-banana/edit', 'images', { ...banana, image_urls: fileUrls(10) }, ['prompt', 'image_urls']),
  model(
    'fal-ai/nano-banana-pro',
    'images',
    { ...banana, resolution: oneOf('1K', '2K', '4K'), enable_web_search: flag },
    ['prompt'],
  ),
  model(
    'fal-ai/gpt-image-1.5/edit',
    'images',
    {
      prompt: text,
      image_urls: fileUrls(16),
      mask_image_url: fileUrl,
      image_size: oneOf('auto', '1024x1024', '1536x1024', '1024x1536'),
      background: oneOf('auto', 'transparent', 'opaque'),
      quality: oneOf('low', 'medium', 'high'),
      input_fidelity: oneOf('low', 'high'),
      num_images: several,
      output_format: oneOf('jpeg', 'png', 'webp'),
      sync_mode: flag,
    },
    ['prompt', 'image_urls'],
  ),
  model(
    'fal-ai/minimax/image-01/subject-reference',
    'images',
    {
      prompt: textOf(1, 1500),
      image_url: fileUrl,
      aspect_ratio: oneOf('1:1', '16:9', '4:3', '3:2', '2:3', '3:4', '9:16', '21:9'),
      num_images: wholeBetween(1, 9),
      prompt_optimizer: flag,
    },
    ['prompt', 'image_url'],
  ),
];
