import { Stack, Text } from '@mantine/core';
import type { JobRequest } from '../../api/schema.ts';
import { Fact, Facts } from '../../kit/facts.tsx';
import { bytesText } from '../../kit/format.ts';
import { Media } from '../../kit/media.tsx';
import { useText } from '../../text.tsx';

const LONG_TEXT_CHARS = 60;

/** What a job was asked for: its words, its settings, and the media that it was given. */
export function Inputs({ request }: { readonly request: JobRequest }) {
  const { say } = useText();
  const named = new Set(request.inputs.map(({ field }) => field.replace(/\[.*$/, '')));
  const fields = Object.entries(request.body).filter(([name]) => name !== 'model' && !named.has(name));
  const isLong = (value: unknown) => typeof value !== 'string' || value.length > LONG_TEXT_CHARS;
  const texts = fields.filter(([name, value]) => name === 'prompt' || (typeof value === 'string' && isLong(value)));
  const settings = fields.filter((field) => !texts.includes(field));
  return (
    <Stack gap="md">
      {texts.map(([name, value]) => (
        <div key={name}>
          <Text size="xs" className="soft mono">
            {name}
          </Text>
          <Text style={{ whiteSpace: 'pre-wrap' }}>{String(value)}</Text>
        </div>
      ))}
      {settings.length > 0 && (
        <Facts>
          {settings.map(([name, value]) => (
            <Fact key={name} label={name}>
              <span className="mono">{typeof value === 'string' ? value : JSON.stringify(value)}</span>
            </Fact>
          ))}
        </Facts>
      )}
      {request.inputs.length > 0 && (
        <div className="gallery">
          {request.inputs.map((input) => (
            <Input key={input.field} input={input} />
          ))}
        </div>
      )}
      {!request.can_run_again && <Text size="sm">{say('jobs.inputsGone')}</Text>}
    </Stack>
  );
}

function Input({ input }: { readonly input: JobRequest['inputs'][number] }) {
  const { say, language } = useText();
  return (
    <Stack gap={4}>
      {input.link !== null ? (
        <Media kind={kindOf(input.mime_type)} url={input.link} label={input.field} />
      ) : (
        <span className="thumb soft">
          <Text size="sm" ta="center" p="sm">
            {say(input.url === null ? 'jobs.inputGone' : 'jobs.inputElsewhere')}
          </Text>
        </span>
      )}
      <Text size="xs" className="soft">
        <span className="mono">{input.field}</span> · {bytesText(input.bytes, language)}
      </Text>
    </Stack>
  );
}

function kindOf(mimeType: string): 'image' | 'video' | 'audio' {
  const [kind] = mimeType.split('/');
  return kind === 'video' || kind === 'audio' ? kind : 'image';
}
