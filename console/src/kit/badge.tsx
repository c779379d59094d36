import { Badge } from '@mantine/core';

export type Tone = 'good' | 'warn' | 'bad' | 'soft';

/** A state in a word. The colour repeats what the word says, for those who see it. */
export function State({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return (
    <Badge
      variant="outline"
      radius="sm"
      tt="none"
      fw={600}
      miw="max-content"
      style={{ color: `var(--${tone})`, borderColor: `color-mix(in srgb, var(--${tone}) 45%, transparent)` }}
    >
      {children}
    </Badge>
  );
}
