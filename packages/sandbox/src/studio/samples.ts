import type { Encoding, Sound, SoundEncoder } from './encoder.ts';

/** What stands for a length that is not known when it has to be told. */
const UNKNOWN_BYTES = 0xffff_ffff;
const NOTHING = Buffer.alloc(0);

/** Samples without a header. */
export function plain(): SoundEncoder {
  return { add: async (sound) => bytes16(sound), end: async () => NOTHING };
}

export function wholeWav(encoding: Encoding): SoundEncoder {
  const parts: Buffer[] = [];
  return {
    async add(sound) {
      parts.push(bytes16(sound));
      return NOTHING;
    },
    async end() {
      const bytes = parts.reduce((sum, part) => sum + part.length, 0);
      return Buffer.concat([wavHead(encoding, bytes), ...parts]);
    },
  };
}

export function streamedWav(encoding: Encoding): SoundEncoder {
  let head = wavHead(encoding, UNKNOWN_BYTES);
  return {
    async add(sound) {
      const bytes = Buffer.concat([head, bytes16(sound)]);
      head = NOTHING;
      return bytes;
    },
    end: async () => head,
  };
}

function wavHead({ sampleRate, channels }: Encoding, bytes: number): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF');
  head.writeUInt32LE(Math.min(UNKNOWN_BYTES, bytes + 36), 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(sampleRate, 24);
  head.writeUInt32LE(sampleRate * channels * 2, 28);
  head.writeUInt16LE(channels * 2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(bytes, 40);
  return head;
}

function bytes16({ channels }: Sound): Buffer {
  return Buffer.from(samples16(channels).buffer);
}

/** Sixteen bits a sample, side after side. */
export function samples16(channels: Sound['channels']): Int16Array<ArrayBuffer> {
  const length = channels[0]?.length ?? 0;
  const samples = new Int16Array(length * channels.length);
  for (const [side, channel] of channels.entries()) {
    for (let at = 0; at < length; at++) samples[at * channels.length + side] = Math.round((channel[at] ?? 0) * 32_767);
  }
  return samples;
}
