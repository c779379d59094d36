import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ConfigCheck } from '../../../api/schema.ts';
import { useRefresh } from '../../../kit/confirm.tsx';
import { Diff } from '../../../kit/diff.tsx';
import { Notice } from '../../../kit/notice.tsx';
import { Problem } from '../../../kit/states.tsx';
import { useSay } from '../../../text.tsx';
import { type Applied, applyText, CHANGED_BY_CONFIG } from './config-api.ts';
import { PriceChanges } from './price-changes.tsx';

interface ReviewProps {
  readonly before: string;
  readonly after: string;
  readonly check: ConfigCheck;
  readonly done: (applied: Applied) => void;
}

/** What applying would change: in words, line by line, and in what calls cost. Then the button that does it. */
export function Review({ before, after, check, done }: ReviewProps) {
  const say = useSay();
  const refresh = useRefresh();
  const apply = useMutation({
    mutationFn: () => applyText(after),
    onSuccess: async (applied) => {
      await refresh(CHANGED_BY_CONFIG);
      done(applied);
    },
  });
  return (
    <Stack gap="md">
      {check.warnings.map((warning) => (
        <Notice key={warning} tone="warn">
          {warning}
        </Notice>
      ))}
      <section>
        <Title order={3} size="sm" mb={4}>
          {say('configuration.changes')}
        </Title>
        {check.changes.length === 0 ? (
          <Text size="sm">{say('configuration.noChanges')}</Text>
        ) : (
          check.changes.map((line) => (
            <Text key={line} size="sm" className="mono">
              {line}
            </Text>
          ))
        )}
      </section>
      <section>
        <Title order={3} size="sm" mb={4}>
          {say('configuration.lines')}
        </Title>
        <Diff label={say('configuration.lines')} before={before} after={after} />
      </section>
      <section>
        <Title order={3} size="sm" mb={4}>
          {say('configuration.prices')}
        </Title>
        <PriceChanges document={after} />
      </section>
      {apply.error !== null && <Problem error={apply.error} />}
      <Group>
        <Button loading={apply.isPending} onClick={() => apply.mutate()}>
          {say('configuration.apply')}
        </Button>
        <Text size="sm" className="soft">
          {say('configuration.applyAbout')}
        </Text>
      </Group>
    </Stack>
  );
}
