import { Text } from '@mantine/core';
import type { ReactNode } from 'react';

interface NoticeProps {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly children: ReactNode;
}

/** A line across the page for what needs attention now. */
export function Notice({ tone, children }: NoticeProps) {
  return (
    <div className="notice" role="status" style={{ borderInlineStartColor: `var(--${tone})` }}>
      <Text size="sm">{children}</Text>
    </div>
  );
}
