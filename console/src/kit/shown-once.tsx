import { Group, Text } from '@mantine/core';
import { CopyButton } from './copy.tsx';
import { Panel } from './page.tsx';

interface ShownOnceProps {
  readonly title: string;
  /** That it must be copied now, and what it is for. */
  readonly about: string;
  readonly secret: string;
  readonly testId: string;
}

/** A secret at the one time that it is shown. It lives in this page's memory and nowhere else. */
export function ShownOnce({ title, about, secret, testId }: ShownOnceProps) {
  return (
    <Panel title={title}>
      <Text size="sm" mb="xs" role="status">
        {about}
      </Text>
      <Group gap="sm">
        <code className="mono" data-testid={testId} style={{ userSelect: 'all' }}>
          {secret}
        </code>
        <CopyButton text={secret} />
      </Group>
    </Panel>
  );
}
