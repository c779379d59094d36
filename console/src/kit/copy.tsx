import { Button, Tabs, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useSay } from '../text.tsx';

export function CopyButton({ text, label }: { readonly text: string; readonly label?: string }) {
  const say = useSay();
  const clipboard = useClipboard({ timeout: 2000 });
  return (
    <Button variant="default" size="compact-sm" onClick={() => clipboard.copy(text)} aria-live="polite">
      {clipboard.copied ? say('action.copied') : (label ?? say('action.copy'))}
    </Button>
  );
}

/** An id that is copied by pressing it; a long one is shown by its end. */
export function CopyId({ id, label }: { readonly id: string; readonly label: string }) {
  const say = useSay();
  const clipboard = useClipboard({ timeout: 2000 });
  return (
    <UnstyledButton className="mono copy-id" title={id} onClick={() => clipboard.copy(id)} aria-live="polite">
      <VisuallyHidden>{label}</VisuallyHidden>
      {clipboard.copied ? say('action.copied') : id.length > ID_CHARS_SHOWN ? `…${id.slice(-ID_CHARS_SHOWN)}` : id}
    </UnstyledButton>
  );
}

const ID_CHARS_SHOWN = 12;

/** The same thing in several languages, one at a time, to be copied. */
export function CodeTabs({ samples }: { readonly samples: Readonly<Record<string, string>> }) {
  const names = Object.keys(samples);
  return (
    <Tabs defaultValue={names[0] ?? ''} keepMounted={false}>
      <Tabs.List mb="xs">
        {names.map((name) => (
          <Tabs.Tab key={name} value={name}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {names.map((name) => (
        <Tabs.Panel key={name} value={name}>
          <Code text={samples[name] ?? ''} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

export function Code({ text }: { readonly text: string }) {
  return (
    <div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <pre className="code" tabIndex={0}>
        {text}
      </pre>
      <div style={{ marginTop: 8 }}>
        <CopyButton text={text} />
      </div>
    </div>
  );
}
