import assert from 'node:assert/strict';

// Files that say of their length what is not so, while every packet in them stays as it was. A decoder plays them whole.

/** A number below the given one, at random. */
export type Choose = (below: number) => number;

/** Every clock of an MP4: the times of samples, whole or in fragments, the scales, the edits, the stated rate. */
export function forgedMp4(file: Buffer, choose: Choose): Buffer {
  const forged = Buffer.from(file);
  const each = (type: string, write: (content: Buffer) => void) => {
    for (let at = forged.indexOf(type); at >= 0; at = forged.indexOf(type, at + 4)) {
      const bytes = forged.readUInt32BE(at - 4);
      // The letters may stand in the sound as well.
      if (bytes >= 16 && bytes <= 200_000 && at - 4 + bytes <= forged.length) {
        write(forged.subarray(at + 4, at - 4 + bytes));
      }
    }
  };
  each('stts', (content) => {
    const delta = choose(3);
    for (let at = 12; at + 4 <= content.length; at += 8) content.writeUInt32BE(delta, at);
  });
  if (choose(2) === 0) each('mdhd', (content) => content.writeUInt32BE(1_000_000 + choose(1e9), 12));
  each('elst', (content) => content.length >= 20 && content.writeUInt32BE(choose(50), 8));
  each('trex', (content) => content.writeUInt32BE(choose(3), 12));
  each('tfhd', (content) => {
    const flags = content.readUInt32BE(0);
    const at = 8 + ((flags & 1) !== 0 ? 8 : 0) + ((flags & 2) !== 0 ? 4 : 0);
    if ((flags & 8) !== 0) content.writeUInt32BE(1, at);
  });
  each('tfdt', (content) => content.writeUInt32BE(0, content[0] === 1 ? 8 : 4));
  each('trun', (content) => {
    const flags = content.readUInt32BE(0);
    if ((flags & 0x100) === 0) return;
    const rowBytes = 4 * [0x100, 0x200, 0x400, 0x800].filter((flag) => (flags & flag) !== 0).length;
    const start = 8 + ((flags & 1) !== 0 ? 4 : 0) + ((flags & 4) !== 0 ? 4 : 0);
    for (let at = start; at + rowBytes <= content.length; at += rowBytes) content.writeUInt32BE(1, at);
  });
  return forged;
}

/** The samples that the pages of an Ogg file number, the checksums put right again. */
export function forgedOgg(file: Buffer, choose: Choose): Buffer {
  const forged = Buffer.from(file);
  let sample = 0;
  for (let at = 0; at < forged.length; ) {
    const bodyAt = at + 27 + forged.readUInt8(at + 26);
    const end = forged.subarray(at + 27, bodyAt).reduce((sum, bytes) => sum + bytes, bodyAt);
    if (forged.readBigInt64LE(at + 6) > 0n) {
      sample += choose(40);
      forged.writeBigInt64LE(BigInt(sample), at + 6);
    }
    forged.writeUInt32LE(0, at + 22);
    forged.writeUInt32LE(oggSum(forged.subarray(at, end)), at + 22);
    at = end;
  }
  return forged;
}

function oggSum(page: Buffer): number {
  let sum = 0;
  for (const byte of page) {
    sum ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) sum = sum < 0 ? (sum << 1) ^ 0x04c11db7 : sum << 1;
  }
  return sum >>> 0;
}

/** The times of clusters and blocks, their unit, what is to be skipped, and the stated length. */
export function forgedMatroska(file: Buffer, choose: Choose): Buffer {
  const forged = Buffer.from(file);
  const unit = forged.indexOf(Buffer.from('2ad7b1', 'hex'));
  if (unit > 0 && choose(2) === 0) shrink(forged, unit + 3, 1 + choose(1000));
  let at = 0;
  let time = 0;
  const step = choose(2);
  const entered = ['1a45dfa3', '18538067', '1f43b675', '1654ae6b', 'ae', 'a0'];
  while (at < forged.length) {
    const idBytes = Math.clz32(forged.readUInt8(at)) - 23;
    const id = forged.toString('hex', at, at + idBytes);
    const lengthBytes = Math.clz32(forged.readUInt8(at + idBytes)) - 23;
    const contentAt = at + idBytes + lengthBytes;
    let bytes = forged.readUInt8(at + idBytes) & (0xff >>> lengthBytes);
    for (let index = 1; index < lengthBytes; index++) bytes = bytes * 256 + forged.readUInt8(at + idBytes + index);
    if (id === 'e7') forged.fill(0, contentAt, contentAt + bytes);
    if (id === 'a3' || id === 'a1') {
      forged.writeInt16BE(time, contentAt + 1);
      time += step;
    }
    at = entered.includes(id) ? contentAt : contentAt + bytes;
  }
  return forged;
}

/** The value of the element whose length is here. */
function shrink(file: Buffer, at: number, value: number): void {
  const bytes = file.readUInt8(at) & 0x7f;
  assert.ok(bytes <= 6);
  file.writeUIntBE(value, at + 1, bytes);
}

/** Tags that claim to hold what are frames: behind, in front of some, or between; and bytes that are nothing. */
export function forgedFrames(file: Buffer, choose: Choose): Buffer {
  const middle = Math.floor(file.length * (0.1 + choose(50) / 100));
  const rest = file.subarray(middle);
  const stated = rest.length - choose(100);
  const footer = Buffer.alloc(32);
  footer.write('APETAGEX', 'latin1');
  footer.writeUInt32LE(2000, 8);
  footer.writeUInt32LE(stated + 32, 12);
  const id3 = Buffer.concat([Buffer.from('ID3'), Buffer.from([4, 0, 0, 0, 0, 0, 0])]);
  for (const place of [0, 1, 2, 3]) id3[6 + place] = (stated >> (7 * (3 - place))) & 0x7f;
  switch (choose(4)) {
    case 0:
      return Buffer.concat([file, footer]);
    case 1:
      return Buffer.concat([file.subarray(0, middle), footer, rest]);
    case 2:
      return Buffer.concat([file.subarray(0, middle), id3, rest]);
    default:
      return Buffer.concat([file, footer, Buffer.from('TAG'), Buffer.alloc(125)]);
  }
}

/** The stated number of samples and their rate, and a footer that claims most of the frames for a tag. */
export function forgedFlac(file: Buffer, choose: Choose): Buffer {
  const forged = Buffer.from(file);
  // Twenty bits of the rate, and thirty-six of the number: where the first block has them.
  if (choose(2) === 0) forged.writeUIntBE((655_350 << 4) | (forged.readUIntBE(18, 3) & 15), 18, 3);
  forged.writeUInt8(forged.readUInt8(21) & 0xf0, 21);
  forged.writeUInt32BE(0, 22);
  return choose(2) === 0 ? forgedFrames(forged, () => 0) : forged;
}

/** A sound in several chunks of data, the first of them small. */
export function forgedWave(file: Buffer, choose: Choose): Buffer {
  const data = file.subarray(44);
  const first = 2 * (100 + choose(1000));
  const chunk = (content: Buffer) => {
    const head = Buffer.from('data\0\0\0\0', 'latin1');
    head.writeUInt32LE(content.length, 4);
    return Buffer.concat([head, content]);
  };
  return Buffer.concat([file.subarray(0, 36), chunk(data.subarray(0, first)), chunk(data.subarray(first))]);
}
