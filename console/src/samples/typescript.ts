import { makesJob, PATHS, resultName } from './call.ts';
import type { SampleCall } from './samples.ts';

/** With the common client library where it has the call, with fetch otherwise. */
export function typescriptSample(call: SampleCall): string {
  switch (call.endpoint) {
    case 'chat':
      return `${client(call)}\n\n${chat(call)}`;
    case 'embeddings':
      return `${client(call)}\n\n${embeddings(call)}`;
    case 'audio_speech':
      return call.body.voice_description === undefined ? speech(call) : fetched(call);
    case 'transcriptions':
      return call.fileName === undefined ? fetched(call) : transcription(call);
    case 'images':
    case 'image_edits':
    case 'videos':
    case 'audio_music':
      return fetched(call);
  }
}

function client({ origin }: SampleCall): string {
  return `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: process.env.TOLLGATE_KEY });`;
}

function chat({ body }: SampleCall): string {
  if (body.stream !== true) {
    return `const answer = await client.chat.completions.create(${literal(body)});
console.log(answer.choices[0].message.content);`;
  }
  return `const stream = await client.chat.completions.create(${literal(body)});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta?.content ?? '');`;
}

function embeddings({ body }: SampleCall): string {
  return `const answer = await client.embeddings.create(${literal(body)});
for (const { index, embedding } of answer.data) console.log(index, embedding.length, embedding.slice(0, 3));`;
}

function speech(call: SampleCall): string {
  // The library's own type wants a voice, which a model may do without.
  return `import { writeFile } from 'node:fs/promises';
${client(call)}

const sound = await client.audio.speech.create(${literal(call.body)} as any);
await writeFile('${resultName('audio_speech', call.body)}', Buffer.from(await sound.arrayBuffer()));`;
}

function transcription(call: SampleCall): string {
  const body = literal(call.body).replace('{', `{\n  file: createReadStream('${call.fileName}'),`);
  return `import { createReadStream } from 'node:fs';
${client(call)}

const transcript = await client.audio.transcriptions.create(${body});
console.log(transcript.text);`;
}

function fetched({ endpoint, body, origin }: SampleCall): string {
  const isJob = makesJob(endpoint);
  const key = isJob ? `\n    'Idempotency-Key': crypto.randomUUID(),` : '';
  const create = `const headers = { Authorization: \`Bearer \${process.env.TOLLGATE_KEY}\` };
const answer = await fetch('${origin}${PATHS[endpoint]}', {
  method: 'POST',
  headers: {
    ...headers,
    'Content-Type': 'application/json',${key}
  },
  body: JSON.stringify(${literal(body).replaceAll('\n', '\n  ')}),
});
if (!answer.ok) throw new Error(await answer.text());`;
  if (!isJob) return `${create}\nconsole.log(await answer.json());`;
  return `import { writeFile } from 'node:fs/promises';

${create}

let job = await answer.json();
while (job.status === 'queued' || job.status === 'running') {
  await new Promise((resolve) => setTimeout(resolve, 2000));
  job = await (await fetch(\`${origin}/v1/jobs/\${job.id}\`, { headers })).json();
}
if (job.status !== 'succeeded') throw new Error(job.error);
const made = await fetch(\`${origin}/v1/jobs/\${job.id}/content\`, { headers });
await writeFile('${resultName(endpoint, body)}', Buffer.from(await made.arrayBuffer()));`;
}

/** JSON as a person writes it in a program: names without quotes, texts in single ones. */
function literal(value: unknown, indent = ''): string {
  const inner = `${indent}  `;
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((item) => `${inner}${literal(item, inner)},\n`).join('')}${indent}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    if (entries.length === 0) return '{}';
    return `{\n${entries.map(([name, item]) => `${inner}${property(name)}: ${literal(item, inner)},\n`).join('')}${indent}}`;
  }
  return String(value);
}

function property(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name);
}
