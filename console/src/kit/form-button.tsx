import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { FormDialog } from './dialog.tsx';

interface FormButtonProps<Answer> {
  /** What the button that opens the form says. */
  readonly label: string;
  readonly title: string;
  /** What the form's own button says, where it is not the same. */
  readonly submitLabel?: string;
  readonly act: () => Promise<Answer>;
  readonly done?: (answer: Answer) => void;
  readonly changes: readonly string[];
  /** The first thing that is done on its page. */
  readonly isMain?: boolean;
  readonly children: ReactNode;
}

/** A button and the form that it opens. */
export function FormButton<Answer>({ label, submitLabel = label, isMain = false, ...form }: FormButtonProps<Answer>) {
  const [isOpen, dialog] = useDisclosure(false);
  return (
    <>
      <Button {...(isMain ? {} : { variant: 'default', size: 'compact-sm' })} onClick={dialog.open}>
        {label}
      </Button>
      <FormDialog {...form} label={submitLabel} isOpen={isOpen} close={dialog.close} />
    </>
  );
}
