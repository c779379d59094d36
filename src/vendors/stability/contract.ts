import { atFirstPoll, type SentRequest, type VendorContract, type WireBody } from '../emulator/contract.ts';
import { StabilityEmulator } from './emulator.ts';
import { wire } from './wire.ts';

export const contract: VendorContract = {
  wire,
  refusal: (name) => ({ id: 'marker', name, errors: ['marker'] }),
  isErrorInSuccess: false,
  emulator: (apiKey, { picture, sound }) =>
    atFirstPoll(new StabilityEmulator(apiKey, { image: picture, audio: sound })),
  works: [
    { kind: 'image', model: 'core', isDirect: true },
    { kind: 'music', model: 'stable-audio-2.5', isDirect: true },
  ],
  models: [
    ...['ultra', 'core', 'sd3.5-large-turbo', 'inpaint', 'outpaint', 'erase', 'search-and-replace', 'style-transfer'],
    ...['replace-background-and-relight', 'creative', 'stable-audio-2.5', 'stable-audio-3'],
  ],
  priced: [
    { kind: 'image', models: ['ultra', 'core', 'sd3.5-large'], read: sentPicture },
    { kind: 'music', models: ['stable-audio-2.5', 'stable-audio-3'], read: sentSound },
  ],
  credential: {
    what: 'the balance of its account',
    request: 'GET /v1/user/balance',
  },
};

/** No size is sent but as the shape of a megapixel. */
function sentPicture({ aspect_ratio: shape }: WireBody): SentRequest {
  return { count: 1, size: shape === '1:1' ? '1024x1024' : undefined };
}

function sentSound({ duration }: WireBody): SentRequest {
  return { count: 1, seconds: Number(duration) };
}
