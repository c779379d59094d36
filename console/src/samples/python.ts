import { makesJob, PATHS, resultName } from './call.ts';
import type { SampleCall } from './samples.ts';

/** With the standard library's neighbours only: openai where it has the call, requests otherwise. */
export function pythonSample(call: SampleCall): string {
  switch (call.endpoint) {
    case 'chat':
      return `${client(call)}\n\n${chat(call)}`;
    case 'embeddings':
      return `${client(call)}\n\n${embeddings(call)}`;
    case 'transcriptions':
      return call.fileName === undefined ? requested(call) : transcription(call);
    case 'images':
    case 'image_edits':
    case 'videos':
    case 'audio_speech':
    case 'audio_music':
      return requested(call);
  }
}

function client({ origin }: SampleCall): string {
  return `import os
from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key=os.environ["TOLLGATE_KEY"])`;
}

function chat({ body }: SampleCall): string {
  const create = `client.chat.completions.create(\n${keywords(body)})`;
  if (body.stream !== true) return `answer = ${create}\nprint(answer.choices[0].message.content)`;
  return `stream = ${create}
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`;
}

function embeddings({ body }: SampleCall): string {
  return `answer = client.embeddings.create(\n${keywords(body)})
for item in answer.data:
    print(item.index, len(item.embedding), item.embedding[:3])`;
}

function transcription(call: SampleCall): string {
  return `${client(call)}

with open(${literal(call.fileName)}, "rb") as clip:
    transcript = client.audio.transcriptions.create(
        file=clip,
${keywords(call.body, '        ')}    )
print(transcript.text)`;
}

function requested({ endpoint, body, origin }: SampleCall): string {
  const isJob = makesJob(endpoint);
  const imports = isJob ? 'import os, time, uuid' : 'import os';
  const headers = isJob ? '{**headers, "Idempotency-Key": str(uuid.uuid4())}' : 'headers';
  const create = `${imports}
import requests

headers = {"Authorization": f"Bearer {os.environ['TOLLGATE_KEY']}"}
answer = requests.post(
    "${origin}${PATHS[endpoint]}",
    headers=${headers},
    json=${literal(body, '    ')},
)
answer.raise_for_status()`;
  if (endpoint === 'audio_speech' && body.voice_description === undefined) {
    return `${create}
with open("${resultName(endpoint, body)}", "wb") as file:
    file.write(answer.content)`;
  }
  if (!isJob) return `${create}\nprint(answer.json())`;
  return `${create}

job = answer.json()
while job["status"] in ("queued", "running"):
    time.sleep(2)
    job = requests.get(f"${origin}/v1/jobs/{job['id']}", headers=headers).json()
if job["status"] != "succeeded":
    raise SystemExit(job["error"])
made = requests.get(f"${origin}/v1/jobs/{job['id']}/content", headers=headers)
with open("${resultName(endpoint, body)}", "wb") as file:
    file.write(made.content)`;
}

/** What the library knows by name. Anything else goes in its own dictionary, or the library refuses it. */
const KNOWN = new Set([
  'model',
  'messages',
  'input',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'n',
  'seed',
  'stop',
  'tools',
  'tool_choice',
  'presence_penalty',
  'frequency_penalty',
  'response_format',
  'timestamp_granularities',
  'language',
  'prompt',
  'user',
]);

function keywords(body: Readonly<Record<string, unknown>>, indent = '    '): string {
  const named = Object.entries(body).filter(([name]) => KNOWN.has(name));
  const others = Object.entries(body).filter(([name]) => !KNOWN.has(name));
  return [...named, ...(others.length === 0 ? [] : [['extra_body', Object.fromEntries(others)] as const])]
    .map(([name, value]) => `${indent}${name}=${literal(value, indent)},\n`)
    .join('');
}

function literal(value: unknown, indent = ''): string {
  const inner = `${indent}    `;
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((item) => `${inner}${literal(item, inner)},\n`).join('')}${indent}]`;
  }
  if (typeof value === 'object') {
    const entries = Object.entries(value);
    if (entries.length === 0) return '{}';
    return `{\n${entries.map(([name, item]) => `${inner}${literal(name)}: ${literal(item, inner)},\n`).join('')}${indent}}`;
  }
  // A text in JSON is one in Python.
  return JSON.stringify(value);
}
