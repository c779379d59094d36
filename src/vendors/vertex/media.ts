import { unsupported } from '../../unsupported.ts';
import { imageOver, speechOver } from '../formats/gemini-media/index.ts';
import { wire } from './wire.ts';

const FORMATS = ['png', 'jpeg'];

/** As at the Developer API, but for the format of a picture, which only this host lets its caller choose. */
export const image = imageOver(wire, {
  outputFormat: (format, field) => {
    if (!FORMATS.includes(format)) throw unsupported(field, { oneOf: FORMATS });
    return { imageOutputOptions: { mimeType: `image/${format}` } };
  },
});

export const speech = speechOver(wire);
