import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useSay } from '../text.tsx';
import { Problem } from './states.tsx';

interface ConfirmProps {
  /** What the button says, and the dialog's button again. */
  readonly label: string;
  readonly title: string;
  /** What will happen, and whether it can be undone. */
  readonly children: ReactNode;
  readonly act: () => Promise<unknown>;
  /** The lists that are read again afterwards, by the paths they begin with. */
  readonly changes: readonly string[];
}

/** A change that cannot be undone: asked once more, done when the gateway has answered, and not before. */
export function Confirm({ label, title, children, act, changes }: ConfirmProps) {
  const say = useSay();
  const [isOpen, dialog] = useDisclosure(false);
  const refresh = useRefresh();
  const change = useMutation({
    mutationFn: act,
    onSuccess: async () => {
      dialog.close();
      await refresh(changes);
    },
  });
  return (
    <>
      <Button variant="default" size="compact-sm" onClick={dialog.open}>
        {label}
      </Button>
      <Modal
        opened={isOpen}
        onClose={dialog.close}
        title={title}
        closeButtonProps={{ 'aria-label': say('action.close') }}
      >
        <Stack>
          <Text size="sm">{children}</Text>
          {change.error !== null && <Problem error={change.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={dialog.close}>
              {say('action.cancel')}
            </Button>
            <Button color="gate.6" loading={change.isPending} onClick={() => change.mutate()}>
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}

/** Reads again every list whose path begins with one of these. */
export function useRefresh(): (paths: readonly string[]) => Promise<void> {
  const client = useQueryClient();
  return (paths) =>
    client.invalidateQueries({
      predicate: ({ queryKey: [path] }) => typeof path === 'string' && paths.some((start) => path.startsWith(start)),
    });
}
