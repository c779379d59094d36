import { Group, Text } from '@mantine/core';
import type { NewApiKey } from '../../api/schema.ts';
import { CopyButton } from '../../kit/copy.tsx';
import { Panel } from '../../kit/page.tsx';
import { useSay } from '../../text.tsx';

/** The one time that a key is shown. It lives in this page's memory and nowhere else. */
export function ShownKey({ made }: { readonly made: NewApiKey }) {
  const say = useSay();
  return (
    <Panel title={say('keys.shownTitle', { name: made.name })}>
      <Text size="sm" mb="xs">
        {say('keys.shownAbout')}
      </Text>
      <Group gap="sm">
        <code className="mono" data-testid="new-key" style={{ userSelect: 'all' }}>
          {made.key}
        </code>
        <CopyButton text={made.key} />
      </Group>
    </Panel>
  );
}
