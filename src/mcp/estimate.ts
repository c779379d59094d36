import { z } from 'zod';
import { estimateCall } from '../calls/index.ts';
import { requireModel } from '../catalogue/index.ts';
import { creditsToNumber } from '../credits.ts';
import { parseWith } from '../parse.ts';
import { generateMusic, generateVideo } from './clip-tools.ts';
import { editImage, generateImage } from './image-tools.ts';
import { bodyOf, type Maker } from './maker.ts';
import { speakMaker } from './speak.ts';
import { READS, type Tool, textBlock } from './tool.ts';

/** Without transcriptions: what one costs is known from its recording alone. */
const MAKERS = {
  generate_image: generateImage,
  edit_image: editImage,
  generate_video: generateVideo,
  generate_music: generateMusic,
  speak: speakMaker,
} satisfies Readonly<Record<string, Maker>>;
const NAMES = ['generate_image', 'edit_image', 'generate_video', 'generate_music', 'speak'] as const;

const question = z.object({
  tool: z.enum(NAMES).describe('The tool that would be called.'),
  arguments: z.record(z.string(), z.unknown()).describe('What it would be called with.'),
});

export const estimate: Tool<typeof question> = {
  name: 'estimate',
  title: 'Price of a call',
  description: 'What a call of a tool would cost at most, without making anything. Free.',
  input: question,
  annotations: READS,
  scope: 'any',
  logged: undefined,
  run: async (deps, call, { tool, arguments: given }) => {
    const maker: Maker = MAKERS[tool];
    const body = await bodyOf(deps, call, maker, parseWith(maker.input, given));
    const model = requireModel(deps.catalogue.snapshot, call.caller.groups, body.model, maker.endpoint);
    const { amount, factors } = estimateCall(model, maker.endpoint, body, body);
    const view = deps.views.estimate({ model: model.id, endpoint: maker.endpoint, amount, factors });
    const words = `${tool} with ${model.id} would hold ${creditsToNumber(amount)} credits, and cost at most that.`;
    return { content: [textBlock(words)], structuredContent: { ...view } };
  },
};
