import { Button, Collapse, Group, JsonInput, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { FormEvent } from 'react';
import type { PlaygroundEndpoint } from '../../api/endpoints.ts';
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
  const { endpoint, fields, body, draft, setDraft, isRunning, submit, stop } = props;
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
  const input = (field: Field) => (
    <FieldInput
      key={field.name}
      field={field}
      value={draft.fields[field.name]}
      change={(value) => set(field, value)}
      endpoint={endpoint}
    />
  );
  const groups = fieldGroups(fields);
  return (
    <Panel title={say('playground.request')}>
      <form onSubmit={send} aria-label={say('playground.request')}>
        <Stack gap="sm">
          {endpoint === 'chat' && (
            <ChatFields draft={draft} setDraft={setDraft} submit={submit} isRunning={isRunning} />
          )}
          {endpoint === 'transcriptions' && <ClipField draft={draft} setDraft={setDraft} />}
          {groups.words.map(input)}
          {groups.media.length > 0 && <div className="settings of-media">{groups.media.map(input)}</div>}
          {groups.settings.length > 0 && <div className="settings">{groups.settings.map(input)}</div>}
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

/** Words need the whole width; media and settings stand beside one another. */
function fieldGroups(fields: readonly Field[]) {
  const isLong = (field: Field) => field.kind === 'text' && field.isLong === true;
  return {
    words: fields.filter(isLong),
    media: fields.filter(({ kind }) => kind === 'media'),
    settings: fields.filter((field) => !isLong(field) && field.kind !== 'media'),
  };
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
