import { Button, Group, Stack, Text } from '@mantine/core';
import type { Asset } from '../api/schema.ts';
import { useText } from '../text.tsx';
import { bytesText, durationText } from './format.ts';
import { Media } from './media.tsx';

/** What a job has made, to be looked at, listened to and downloaded. */
export function Results({ assets, label }: { readonly assets: readonly Asset[]; readonly label: string }) {
  const results = assets.filter(({ kind }) => kind !== 'thumbnail');
  return (
    <div className={results.length > 1 ? 'results' : undefined}>
      {results.map((asset) => (
        <Result key={asset.id} asset={asset} label={`${label} ${asset.ordinal + 1}`} />
      ))}
    </div>
  );
}

function Result({ asset, label }: { readonly asset: Asset; readonly label: string }) {
  const { say, language } = useText();
  const { kind, url, width, height, seconds, bytes, mime_type } = asset;
  const facts = [
    ...(width === undefined ? [] : [`${width} × ${height}`]),
    ...(seconds === undefined ? [] : [durationText(seconds * 1000, language)]),
    bytesText(bytes, language),
    mime_type,
  ];
  return (
    <Stack gap="xs">
      <Media kind={kind} url={url} label={label} width={width} height={height} />
      <Group justify="space-between" gap="xs">
        <Text size="xs" className="soft num">
          {facts.join(' · ')}
        </Text>
        <Button component="a" href={url} download variant="default" size="compact-sm">
          {say('action.download')}
        </Button>
      </Group>
    </Stack>
  );
}
