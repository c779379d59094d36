import { Button, Group, Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import type { Speech, VoicePreviews } from '../../api/schema.ts';
import { CopyButton } from '../../kit/copy.tsx';
import { durationText } from '../../kit/format.ts';
import { Media } from '../../kit/media.tsx';
import { useBlobUrl } from '../../kit/save.tsx';
import { useText } from '../../text.tsx';

interface Sound {
  readonly format: string;
  readonly mime_type: string;
  readonly b64_json?: string;
  readonly url?: string;
  readonly seconds: number;
}

/** Speech, or proposals for a voice. */
export function Sounds({ speech }: { readonly speech: Speech | VoicePreviews }) {
  const { say } = useText();
  if (speech.object === 'audio.speech') {
    return (
      <Stack gap="md">
        {(speech.data ?? [speech]).map((sound, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the clips of one answer have no other name.
          <Player key={index} sound={sound} label={speech.model} />
        ))}
      </Stack>
    );
  }
  return (
    <Stack gap="md">
      {speech.previews.map((preview) => (
        <Stack key={preview.voice_id} gap={4}>
          <Text size="sm" fw={600}>
            {preview.name}
          </Text>
          <Text size="xs" className="soft">
            {preview.description}
          </Text>
          <Player sound={preview} label={preview.name} />
          <Group gap="xs">
            <CopyButton text={preview.voice_id} label={say('playground.copyVoice')} />
            <Text size="xs" className="soft mono">
              {preview.voice_id}
            </Text>
          </Group>
        </Stack>
      ))}
    </Stack>
  );
}

function Player({ sound, label }: { readonly sound: Sound; readonly label: string }) {
  const { say, language } = useText();
  const { b64_json, mime_type, format } = sound;
  const blob = useMemo(
    () => (b64_json === undefined ? undefined : bytesOf(b64_json, mime_type)),
    [b64_json, mime_type],
  );
  const url = useBlobUrl(blob) ?? sound.url ?? '';
  return (
    <Stack gap={4}>
      <Media kind="audio" url={url} label={label} />
      <Group justify="space-between" gap="xs">
        <Text size="xs" className="soft num">
          {durationText(sound.seconds * 1000, language)} · {mime_type}
        </Text>
        <Button component="a" href={url} download={`speech.${format}`} variant="default" size="compact-sm">
          {say('action.download')}
        </Button>
      </Group>
    </Stack>
  );
}

function bytesOf(base64: string, type: string): Blob {
  return new Blob([Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))], { type });
}
