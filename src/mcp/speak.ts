import { z } from 'zod';
import { type MadeClip, speak as readAloud } from '../calls/index.ts';
import { creditsToNumber } from '../credits.ts';
import { MCP_INLINE_AUDIO_BYTES_MAX, MCP_LINK_MS } from '../limits.ts';
import { parseWith } from '../parse.ts';
import { soundSchema, toSoundRequest } from '../schemas/index.ts';
import { inlineBlock, type LinkedMedia, linkBlock, linkLine } from './blocks.ts';
import type { McpDeps } from './deps.ts';
import { bodyOf, type Maker } from './maker.ts';
import { type Block, MAKES, type Tool, textBlock } from './tool.ts';

const speech = z.object({
  text: z.string().min(1).describe('What is read aloud.'),
  model: z.string().optional().describe('An id of list_models; by default the first that can do it.'),
  voice: z.string().min(1).optional().describe('A name of the model’s voices, such as alloy.'),
  format: z.enum(['mp3', 'wav', 'opus', 'flac', 'aac', 'ogg']).optional(),
});

export const speakMaker: Maker<typeof speech> = {
  name: 'speak',
  title: 'Read text aloud',
  description: 'Reads text aloud. Costs credits.',
  input: speech,
  endpoint: 'audio_speech',
  scope: 'user:inference:audio',
  body: async (_deps, _call, { text, voice, format }) => ({ input: text, voice, format, output: 'url' }),
};

export const speak: Tool<typeof speech> = {
  ...speakMaker,
  annotations: MAKES,
  logged: 'audio_speech',
  run: async (deps, call, args) => {
    const body = await bodyOf(deps, call, speakMaker, args);
    const spoken = await readAloud(deps, call.caller, toSoundRequest(parseWith(soundSchema, body), body), call);
    // Only a stream is neither, and a link was asked for.
    if (spoken.kind === 'stream') throw new Error('speech was streamed');
    const clips = spoken.kind === 'clips' ? spoken.clips : spoken.previews;
    const parts = await Promise.all(clips.map((clip) => clipPart(deps, clip)));
    const head = `Read aloud with ${body.model} for ${creditsToNumber(spoken.charged)} credits.`;
    const text = [head, ...parts.map(({ line }) => line)].join('\n');
    return { content: [textBlock(text), ...parts.flatMap(({ blocks }) => blocks)] };
  },
};

interface Part {
  readonly line: string;
  readonly blocks: readonly Block[];
}

async function clipPart(deps: McpDeps, { sound, length, content }: MadeClip): Promise<Part> {
  const { mimeType, extension } = sound;
  const seconds = length.milliseconds / 1000;
  const now = deps.clock.now();
  const objectKey = 'url' in content ? deps.objects.keyOfLink(content.url, now) : undefined;
  if (objectKey === undefined) return unlinked(content, mimeType);
  const bytes = (await deps.objects.read(objectKey, { start: 0, end: 0 }))?.bytes ?? 0;
  const expiresAt = new Date(now.getTime() + MCP_LINK_MS);
  const url = await deps.objects.link(objectKey, { mimeType, fileName: `speech.${extension}`, expiresAt, now });
  const media: LinkedMedia = { objectKey, url, mimeType, bytes, seconds };
  const name = `speech.${extension}`;
  return { line: linkLine(media, 'audio'), blocks: [...(await inlineBlock(deps, media)), linkBlock(media, name)] };
}

/** The object store was away, so that the sound came without a link. */
function unlinked(content: MadeClip['content'], mimeType: string): Part {
  const data = 'base64' in content ? content.base64 : '';
  const isSmall = data.length * 0.75 <= MCP_INLINE_AUDIO_BYTES_MAX;
  return isSmall
    ? { line: `audio: ${mimeType}, without a link.`, blocks: [{ type: 'audio', data, mimeType }] }
    : { line: `audio: ${mimeType}, too large to stand here, and no link could be made.`, blocks: [] };
}
