import { Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** A row of figures: what matters most first. */
export function Figures({ children }: { readonly children: ReactNode }) {
  return <div className="figures">{children}</div>;
}

interface FigureProps {
  readonly label: string;
  readonly value: ReactNode;
  readonly hint?: ReactNode;
  readonly tone?: 'good' | 'warn' | 'bad';
}

export function Figure({ label, value, hint, tone }: FigureProps) {
  return (
    <div className="panel" style={{ padding: 'var(--mantine-spacing-md)' }}>
      <Text size="sm" className="soft">
        {label}
      </Text>
      <Text
        fz={{ base: 'lg', sm: 'xl' }}
        fw={650}
        className="num"
        {...(tone === undefined ? {} : { style: { color: `var(--${tone})` } })}
      >
        {value}
      </Text>
      {hint !== undefined && (
        <Text size="xs" className="soft">
          {hint}
        </Text>
      )}
    </div>
  );
}
