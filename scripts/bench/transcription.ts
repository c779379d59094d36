import { toneAs } from '../../test/support/media-samples.ts';
import { type Subject, startGateway } from './gateway.ts';
import { type Load, measureRounds } from './load.ts';
import { forkServer } from './servers.ts';
import { cpuAndRateRows, type Row } from './table.ts';

/** At 64 kbit per second, 1 MiB all but some hundred bytes. */
const SECONDS = 131;

/** A file to be transcribed, through the whole gateway against a bare proxy that passes the same form on as it comes. */
export async function benchTranscription(subject: Subject): Promise<Row[]> {
  const upstream = await forkServer('./fake-upstream.ts');
  const bare = await forkServer('./bare-proxy.ts', [upstream.url]);
  const gateway = await startGateway(subject, upstream.url);
  try {
    const rounds = await measureRounds(bare, gateway, await transcriptionLoad());
    return cpuAndRateRows('transcription of an MP3 of 1 MiB', { cpu: '≤ 3.0' }, rounds);
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
    body: Buffer.concat([model, file, clip, Buffer.from('\r\n--between-the-parts--\r\n')]),
  };
}
