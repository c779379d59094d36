import type { ImageRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { type FieldMap, oneOf, type WireFields } from '../kit/mapping.ts';
import { inPixels, type SizeRules } from '../kit/pixel-size.ts';
import type { Media } from '../vendor.ts';

type Request = ImageRequest<Media>;
type Fields = FieldMap<Request>;

/** The vendor writes JPEG in three letters. */
export function formats(...words: readonly ('webp' | 'jpg' | 'png')[]): Fields {
  return {
    outputFormat: (format, field) => {
      const word = words.find((each) => each === (format === 'jpeg' ? 'jpg' : format));
      if (word === undefined)
        throw unsupported(field, { oneOf: words.map((each) => (each === 'jpg' ? 'jpeg' : each)) });
      return { output_format: word };
    },
  };
}

/** `auto` leaves it to the model. */
export function ratios(words: string): Fields {
  const known = words.split(' ');
  return { aspectRatio: (ratio, field) => (ratio === 'auto' ? {} : oneOf('aspect_ratio', known)(ratio, field)) };
}

/** The model's words for the tiers that it has. */
export function tiers(name: string, words: Readonly<Record<string, string>>): Fields {
  return {
    resolution: (tier, field) => {
      const key = tier.toLowerCase();
      const word = Object.hasOwn(words, key) ? words[key] : undefined;
      if (word === undefined) throw unsupported(field, { oneOf: Object.keys(words) });
      return { [name]: word };
    },
  };
}

/** For models whose shape may be `custom`, with a width and a height beside it. */
export function inCustomPixels(sideMax: number, tierSides: SizeRules['tiers']): Fields {
  const fields = inPixels({ step: 32, sideMin: 256, sideMax, pixelsMax: sideMax * sideMax, tiers: tierSides });
  const take =
    (key: 'size' | 'resolution' | 'aspectRatio') =>
    (value: string, field: string, request: Request): WireFields => {
      const sides = fields[key]?.(value, field, request) ?? {};
      return 'width' in sides ? { aspect_ratio: 'custom', ...sides } : sides;
    };
  return { size: take('size'), resolution: take('resolution'), aspectRatio: take('aspectRatio') };
}

/** For models whose tier may be `custom`. A shape beside it changes nothing. */
export function customTier(sideMin: number, sideMax: number): Fields {
  const fields = inPixels({ step: 1, sideMin, sideMax, pixelsMax: sideMax * sideMax, tiers: {} });
  return {
    size: (size, field, request): WireFields => {
      const sides = fields.size?.(size, field, request) ?? {};
      return 'width' in sides ? { size: 'custom', ...sides } : sides;
    },
  };
}
