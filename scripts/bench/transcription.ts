import { toneAs } from '../../test/support/media-samples.ts';
import { forkServer } from './child.ts';
import { type Load, measureInTurn } from './load.ts';
import type { Row } from './table.ts';

/** At 64 kbit per second, 1 MiB all but some hundred bytes. */
const SECONDS = 131;

/** A file to be transcribed, through the whole gateway against a bare proxy that passes the same form on as it comes. */
export async function benchTranscription(): Promise<Row[]> {
  const upstream = await forkServer('./fake-upstream.ts');
  const bare = await forkServer('./bare-proxy.ts', [upstream.url]);
  const gateway = await forkServer('./gateway-server.ts', [upstream.url]);
  try {
    const [yardstick, measured] = await measureInTurn([bare, gateway], await transcriptionLoad());
    if (yardstick === undefined || measured === undefined) throw new Error('nothing was measured');
    const name = 'transcription of an MP3 of 1 MiB';
    return [
      {
        measure: `${name}, processor µs per request`,
        bare: yardstick.cpuMicros,
        tollgate: measured.cpuMicros,
        ratio: `adds ${(measured.cpuMicros / yardstick.cpuMicros - 1).toFixed(2)}`,
        goal: 'adds ≤ 2.0',
      },
      {
        measure: `${name}, requests per second`,
        bare: yardstick.requestsPerSecond,
        tollgate: measured.requestsPerSecond,
        ratio: measured.requestsPerSecond / yardstick.requestsPerSecond,
        goal: '',
      },
    ];
  } finally {
    await Promise.all([gateway.stop(), bare.stop(), upstream.stop()]);
  }
}

async function transcriptionLoad(): Promise<Load> {
  const clip = await toneAs('mp3', { seconds: SECONDS });
  const head = (name: string) => `--between-the-parts\r\ncontent-disposition: form-data; name="${name}"`;
  const model = Buffer.from(`${head('model')}\r\n\r\nbench/transcription\r\n`);
  const file = Buffer.from(`${head('file')}; filename="a.mp3"\r\ncontent-type: audio/mpeg\r\n\r\n`);
  return {
    path: '/v1/audio/transcriptions',
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=between-the-parts' },
    connections: 16,
    warmUpRequests: 3_000,
    body: Buffer.concat([model, file, clip, Buffer.from('\r\n--between-the-parts--\r\n')]),
  };
}
