import { Checkbox, NumberInput, Select, Textarea, TextInput } from '@mantine/core';
import type { PlaygroundEndpoint } from '../../api/endpoints.ts';
import { useSay } from '../../text.tsx';
import type { FieldValue, Upload } from './draft.ts';
import type { Field } from './fields.ts';
import { MediaField } from './media-field.tsx';

interface FieldInputProps {
  readonly field: Field;
  readonly value: FieldValue | undefined;
  readonly change: (value: FieldValue | undefined) => void;
  readonly endpoint: PlaygroundEndpoint;
}

/** One field as it is filled in. */
export function FieldInput({ field, value, change, endpoint }: FieldInputProps) {
  const say = useSay();
  const isHint = endpoint === 'transcriptions' && field.name === 'prompt';
  const label = say(isHint ? 'playground.hint' : `field.${field.name}`);
  switch (field.kind) {
    case 'text': {
      const text = typeof value === 'string' ? value : '';
      return field.isLong === true ? (
        <Textarea
          label={label}
          value={text}
          onChange={(event) => change(event.currentTarget.value)}
          required={field.isRequired === true}
          {...(isExample(field.name, endpoint) ? { placeholder: say(`playground.example.${endpoint}`) } : {})}
          autosize
          minRows={field.isRequired === true ? 3 : 2}
          maxRows={14}
        />
      ) : (
        <TextInput label={label} value={text} onChange={(event) => change(event.currentTarget.value)} />
      );
    }
    case 'choice':
      return (
        <Select
          label={label}
          placeholder={say('playground.usual')}
          data={[...field.options]}
          value={typeof value === 'string' && field.options.includes(value) ? value : null}
          onChange={(chosen) => change(chosen ?? undefined)}
          clearable
        />
      );
    case 'number':
      return (
        <NumberInput
          label={label}
          placeholder={say('playground.usual')}
          value={typeof value === 'number' ? value : ''}
          onChange={(next) => change(typeof next === 'number' ? next : undefined)}
          {...(field.min === undefined ? {} : { min: field.min })}
          {...(field.max === undefined ? {} : { max: field.max })}
          decimalScale={field.decimals ?? 0}
          step={field.name === 'temperature' ? 0.1 : 1}
        />
      );
    case 'flag':
      return (
        <Checkbox
          label={label}
          checked={value === true}
          onChange={(event) => change(event.currentTarget.checked || undefined)}
          mt="xl"
        />
      );
    case 'media':
      return <MediaField field={field} label={label} files={isUploads(value) ? value : []} change={change} />;
  }
}

/** Whether the field is the one that the endpoint's example is for. */
function isExample(name: Field['name'], endpoint: PlaygroundEndpoint): endpoint is keyof typeof EXAMPLES {
  return Object.hasOwn(EXAMPLES, endpoint) && EXAMPLES[endpoint as keyof typeof EXAMPLES] === name;
}

const EXAMPLES = {
  images: 'prompt',
  image_edits: 'prompt',
  videos: 'prompt',
  audio_music: 'prompt',
  audio_speech: 'input',
} as const;

function isUploads(value: FieldValue | undefined): value is readonly Upload[] {
  return Array.isArray(value);
}
