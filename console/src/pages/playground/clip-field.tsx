import { Button, FileButton, Group, Text } from '@mantine/core';
import { bytesText } from '../../kit/format.ts';
import { useBlobUrl } from '../../kit/save.tsx';
import { useText } from '../../text.tsx';
import type { Draft } from './draft.ts';
import type { SetDraft } from './workbench.tsx';

/** The sound that is to be written down. It stays in this page and goes with the call itself. */
export function ClipField({ draft, setDraft }: { readonly draft: Draft; readonly setDraft: SetDraft }) {
  const { say, language } = useText();
  const { clip } = draft;
  const url = useBlobUrl(clip);
  return (
    <div>
      <Group justify="space-between" gap="xs" mb={4}>
        <Text size="sm" fw={500}>
          {say('field.clip')} <span style={{ color: 'var(--bad)' }}>*</span>
        </Text>
        <FileButton
          onChange={(file) => file !== null && setDraft((now) => ({ ...now, clip: file }))}
          accept="audio/*,video/*"
        >
          {(props) => (
            <Button {...props} variant="default" size="compact-sm">
              {say(clip === undefined ? 'playground.choose' : 'playground.replace')}
            </Button>
          )}
        </FileButton>
      </Group>
      {clip !== undefined && (
        <>
          <Text size="sm">
            {clip.name} <span className="soft">· {bytesText(clip.size, language)}</span>
          </Text>
          {/* biome-ignore lint/a11y/useMediaCaption: its words are what is asked for. */}
          <audio src={url} controls aria-label={clip.name} style={{ width: '100%', marginTop: 6 }} />
        </>
      )}
    </div>
  );
}
