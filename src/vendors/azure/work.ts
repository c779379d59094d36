import { chatOver, embeddingOver } from '../formats/chat-completions/index.ts';
import { imageOver, speechOver, transcriptionFamily, transcriptionOver } from '../formats/openai-media/index.ts';
import { readingCheck } from '../kit/credential-check.ts';
import { refuse } from '../kit/refusals.ts';
import type { VendorWork } from '../vendor.ts';
import { wire } from './wire.ts';

// A deployment has the name that the operator gave it, so every model is the author's whatever it is called.
const image = imageOver(wire, (name) => ({ isAuthors: true, areSizesFixed: !/^gpt-image-[2-9]/.test(name) }));

export const work: VendorWork = {
  check: readingCheck(wire, 'a list of its models', '/models'),
  chat: chatOver(wire),
  embedding: embeddingOver(wire),
  image: {
    ...image,
    check(request, upstreamModel) {
      refuse('output_format', request.outputFormat === 'webp', { oneOf: ['png', 'jpeg'] });
      image.check(request, upstreamModel);
    },
  },
  speech: speechOver(wire, (name) => ({ isAuthors: true, takesInstructions: !name.startsWith('tts') })),
  transcription: transcriptionOver(wire, (name) => ({ ...transcriptionFamily(name), isAuthors: true })),
};
