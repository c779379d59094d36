import { Button, CloseButton, FileButton, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { uploadFile } from '../../api/upload.ts';
import { Icon } from '../../kit/icons.tsx';
import { Problem } from '../../kit/states.tsx';
import { useSay } from '../../text.tsx';
import type { Upload } from './draft.ts';
import type { Field } from './fields.ts';

interface MediaFieldProps {
  readonly field: Extract<Field, { readonly kind: 'media' }>;
  readonly label: string;
  readonly files: readonly Upload[];
  readonly change: (files: readonly Upload[] | undefined) => void;
}

/** Pictures, clips or sounds: uploaded when they are chosen, and named in the request by their links. */
export function MediaField({ field, label, files, change }: MediaFieldProps) {
  const say = useSay();
  const upload = useMutation({
    mutationFn: async (chosen: readonly File[]) => {
      const uploads: Upload[] = [];
      for (const file of chosen) {
        const { url, filename, mime_type } = await uploadFile(file);
        uploads.push({ url, name: filename, mimeType: mime_type });
      }
      return uploads;
    },
    onSuccess: (uploads) => change(field.isList ? [...files, ...uploads] : uploads.slice(-1)),
  });
  const choose = (chosen: File | File[] | null) => {
    const list = [chosen ?? []].flat();
    if (list.length > 0) upload.mutate(list);
  };
  const remove = (url: string) => {
    const rest = files.filter((file) => file.url !== url);
    change(rest.length === 0 ? undefined : rest);
  };
  return (
    <Stack gap={4} role="group" aria-label={label}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={500}>
          {label}
          {field.isRequired === true && <span style={{ color: 'var(--bad)' }}> *</span>}
        </Text>
        <FileButton onChange={choose} accept={`${field.media}/*`} multiple={field.isList}>
          {(props) => (
            <Button {...props} variant="default" size="compact-sm" loading={upload.isPending}>
              {say(files.length > 0 && !field.isList ? 'playground.replace' : 'playground.choose')}
            </Button>
          )}
        </FileButton>
      </Group>
      {files.map((file) => (
        <Group key={file.url} gap="xs" wrap="nowrap">
          {field.media === 'image' ? (
            <img className="glimpse" src={file.url} alt="" />
          ) : (
            <Icon name={field.media === 'audio' ? 'transcriptions' : 'jobs'} />
          )}
          <Text size="sm" truncate style={{ flex: 1 }}>
            {file.name}
          </Text>
          <CloseButton aria-label={say('playground.remove', { name: file.name })} onClick={() => remove(file.url)} />
        </Group>
      ))}
      {upload.error !== null && <Problem error={upload.error} />}
    </Stack>
  );
}
