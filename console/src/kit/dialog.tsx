import { Button, Group, Modal, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { useSay } from '../text.tsx';
import { useRefresh } from './confirm.tsx';
import { Problem } from './states.tsx';

interface FormDialogProps<Answer> {
  readonly title: string;
  readonly isOpen: boolean;
  readonly close: () => void;
  /** What the button that sends it says. */
  readonly label: string;
  readonly act: () => Promise<Answer>;
  readonly done?: (answer: Answer) => void;
  /** The lists that are read again afterwards, by the paths they begin with. */
  readonly changes: readonly string[];
  readonly children: ReactNode;
}

/** A form in a dialog: closed when the gateway has answered, and not before. Its fields live as long as it is open. */
export function FormDialog<Answer>(props: FormDialogProps<Answer>) {
  const { title, isOpen, close, label, act, done, changes, children } = props;
  const say = useSay();
  const refresh = useRefresh();
  const change = useMutation({
    mutationFn: act,
    onSuccess: async (answer) => {
      done?.(answer);
      close();
      await refresh(changes);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  const leave = () => {
    change.reset();
    close();
  };
  return (
    <Modal opened={isOpen} onClose={leave} title={title} closeButtonProps={{ 'aria-label': say('action.close') }}>
      <form onSubmit={submit}>
        <Stack>
          {children}
          {change.error !== null && <Problem error={change.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={leave}>
              {say('action.cancel')}
            </Button>
            <Button type="submit" loading={change.isPending}>
              {label}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
