import { compose } from './composer.ts';
import { encoderOf, type Sound } from './encoder.ts';
import { play } from './instruments.ts';
import type { Made, MusicPiece, Progress } from './piece.ts';

export async function makeMusic(piece: MusicPiece, progress: Progress): Promise<Made[]> {
  const outputs: Made[] = [];
  for (let index = 0; index < piece.count; index++) {
    const sound = soundOf(piece, index);
    progress((index + 0.7) / piece.count);
    const encoder = await encoderOf(piece, true);
    const data = Buffer.concat([await encoder.add(sound), await encoder.end()]);
    outputs.push({ data, isThumbnail: false });
    progress((index + 1) / piece.count);
  }
  return outputs;
}

export function soundOf(piece: MusicPiece, index: number): Sound {
  const [left, right] = play(compose(piece, index), piece);
  const channels = piece.channels === 2 ? [left, right] : [left.map((sample, at) => (sample + (right[at] ?? 0)) / 2)];
  return { channels, sampleRate: piece.sampleRate };
}
