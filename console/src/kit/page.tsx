import { Box, Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';

interface PageProps {
  readonly title: string;
  readonly about?: ReactNode;
  /** The buttons of the page, at the end of its heading. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** Every page: its heading, one line on what it is for, its actions, and its panels below one another. */
export function Page({ title, about, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Tollgate`;
  }, [title]);
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Box style={{ flex: '1 1 16rem', minWidth: 0 }}>
          <Title order={1}>{title}</Title>
          {about !== undefined && (
            <Text size="sm" className="soft" mt={4}>
              {about}
            </Text>
          )}
        </Box>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}

interface PanelProps {
  readonly title?: string;
  readonly actions?: ReactNode;
  /** Without inner space, for tables that reach the edge. */
  readonly flush?: boolean;
  readonly children: ReactNode;
}

export function Panel({ title, actions, flush = false, children }: PanelProps) {
  return (
    <section className="panel" aria-label={title}>
      {(title !== undefined || actions !== undefined) && (
        <Group justify="space-between" px="md" pt="md" pb={flush ? 'xs' : 0} gap="xs">
          {title !== undefined && <Title order={2}>{title}</Title>}
          {actions}
        </Group>
      )}
      <Box p={flush ? 0 : 'md'}>{children}</Box>
    </section>
  );
}
