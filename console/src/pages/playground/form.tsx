import { Button, Collapse, Group, JsonInput, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { FormEvent } from 'react';
import type { PlaygroundEndpoint } from '../../api/catalogue.ts';
import type { CatalogueModel } from '../../api/schema.ts';
import { Panel } from '../../kit/page.tsx';
import { useSay } from '../../text.tsx';
import { ChatFields } from './chat-fields.tsx';
import { ClipField } from './clip-field.tsx';
import { type Body, type Draft, type FieldValue, missingField, parseMore } from './draft.ts';
import { EstimateLine } from './estimate.tsx';
import { FieldInput } from './field-input.tsx';
import type { Field } from './fields.ts';
import type { SetDraft } from './workbench.tsx';

interface FormProps {
  readonly model: CatalogueModel;
  readonly endpoint: PlaygroundEndpoint;
  readonly fields: readonly Field[];
  readonly body: Body;
  readonly draft: Draft;
  readonly setDraft: SetDraft;
  readonly isRunning: boolean;
  readonly submit: () => void;
  readonly stop: () => void;
}

export function Form(props: FormProps) {
  const { model, endpoint, fields, body, draft, setDraft, isRunning, submit, stop } = props;
  const say = useSay();
  const missing = missingField(endpoint, fields, draft);
  const isBroken = parseMore(draft.more) === undefined;
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (!isRunning && !isBroken) submit();
  };
  const set = (field: Field, value: FieldValue | undefined) =>
    setDraft((now) => {
      const { [field.name]: _, ...others } = now.fields;
      return { ...now, fields: value === undefined ? others : { ...others, [field.name]: value } };
    });
  const [words, settings] = [fields.filter(isWide), fields.filter((field) => !isWide(field))];
  return (
    <Panel title={say('playground.request')}>
      <form onSubmit={send} aria-label={say('playground.request')}>
        <Stack gap="sm">
          {endpoint === 'chat' && (
            <ChatFields draft={draft} setDraft={setDraft} submit={submit} isRunning={isRunning} />
          )}
          {endpoint === 'transcriptions' && <ClipField draft={draft} setDraft={setDraft} />}
          {words.map((field) => (
            <FieldInput
              key={field.name}
              field={field}
              value={draft.fields[field.name]}
              change={(value) => set(field, value)}
              model={model}
              endpoint={endpoint}
            />
          ))}
          {settings.length > 0 && (
            <div className="settings">
              {settings.map((field) => (
                <FieldInput
                  key={field.name}
                  field={field}
                  value={draft.fields[field.name]}
                  change={(value) => set(field, value)}
                  model={model}
                  endpoint={endpoint}
                />
              ))}
            </div>
          )}
          <FurtherFields more={draft.more} change={(more) => setDraft((now) => ({ ...now, more }))} />
          <EstimateLine endpoint={endpoint} body={body} draft={draft} isBroken={isBroken} />
          <Group gap="sm">
            <Button type="submit" loading={isRunning} disabled={isBroken || missing !== undefined}>
              {say('playground.run')}
            </Button>
            {isRunning && (
              <Button variant="default" onClick={stop}>
                {say('playground.stop')}
              </Button>
            )}
            {missing !== undefined && !isRunning && (
              <Text size="sm" className="soft">
                {say('playground.missing', { field: say(`field.${missing}`) })}
              </Text>
            )}
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}

/** Words and media need the whole width; settings stand beside one another. */
function isWide(field: Field): boolean {
  return (field.kind === 'text' && field.isLong === true) || field.kind === 'media';
}

function FurtherFields({ more, change }: { readonly more: string; readonly change: (more: string) => void }) {
  const say = useSay();
  const [isOpen, panel] = useDisclosure(more !== '');
  return (
    <div>
      <Button variant="subtle" size="compact-sm" px={0} onClick={panel.toggle} aria-expanded={isOpen}>
        {isOpen ? '− ' : '+ '}
        {say('playground.more')}
      </Button>
      <Collapse expanded={isOpen}>
        <JsonInput
          aria-label={say('playground.more')}
          description={say('playground.moreAbout')}
          placeholder='{ "negative_prompt": "…" }'
          value={more}
          onChange={change}
          validationError={say('playground.noJson')}
          autosize
          minRows={3}
        />
      </Collapse>
    </div>
  );
}
