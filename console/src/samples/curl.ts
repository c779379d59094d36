import { makesJob, PATHS, resultName } from './call.ts';
import type { SampleCall } from './samples.ts';

const AUTH = '-H "Authorization: Bearer $TOLLGATE_KEY"';

export function curlSample(call: SampleCall): string {
  const { endpoint, body, origin } = call;
  const url = `${origin}${PATHS[endpoint]}`;
  if (endpoint === 'transcriptions' && call.fileName !== undefined) return formSample(url, call);
  const json = `${AUTH} -H 'Content-Type: application/json' \\\n  -d ${quoted(JSON.stringify(body, undefined, 2))}`;
  if (makesJob(endpoint)) return jobSample(url, json, call);
  // Proposals for a voice come as JSON.
  const isSound = endpoint === 'audio_speech' && body.voice_description === undefined;
  const flags = isSound ? ` -o ${resultName(endpoint, body)}` : body.stream === true ? ' -N' : '';
  return `curl -sS${flags} ${url} \\\n  ${json}`;
}

function jobSample(url: string, json: string, { endpoint, body, origin }: SampleCall): string {
  return `JOB=$(curl -sS ${url} \\
  -H "Idempotency-Key: $(date +%s%N)" \\
  ${json} \\
  | sed -E 's/.*"id":"([^"]+)".*/\\1/')

# Ask until it has ended, then fetch what it has made.
while curl -sS ${origin}/v1/jobs/$JOB ${AUTH} | grep -Eq '"status":"(queued|running)"'; do sleep 2; done
curl -sS -L -o ${resultName(endpoint, body)} ${origin}/v1/jobs/$JOB/content \\
  ${AUTH}`;
}

function formSample(url: string, { body, fileName }: SampleCall): string {
  const fields = Object.entries(body).flatMap(([name, value]) =>
    Array.isArray(value) ? value.map((item) => [`${name}[]`, item] as const) : [[name, value] as const],
  );
  const parts = fields.map(([name, value]) => `-F ${quoted(`${name}=${String(value)}`)}`);
  return [`curl -sS ${url}`, AUTH, `-F ${quoted(`file=@${fileName}`)}`, ...parts].join(' \\\n  ');
}

/** One word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
