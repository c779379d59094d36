import { Button } from '@mantine/core';
import { useEffect, useMemo } from 'react';

/** A button that saves what the page has made itself. */
export function SaveButton({
  label,
  name,
  content,
  type = 'text/plain',
}: {
  readonly label: string;
  /** Of the file. */
  readonly name: string;
  readonly content: string;
  readonly type?: string;
}) {
  return (
    <Button variant="default" size="compact-sm" onClick={() => save(name, new Blob([content], { type }))}>
      {label}
    </Button>
  );
}

function save(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** An address of bytes that this page holds, until it shows others. */
export function useBlobUrl(blob: Blob | undefined): string | undefined {
  const url = useMemo(() => (blob === undefined ? undefined : URL.createObjectURL(blob)), [blob]);
  useEffect(() => () => (url === undefined ? undefined : URL.revokeObjectURL(url)), [url]);
  return url;
}
