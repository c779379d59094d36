import { Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, Refusal } from '../../api/client.ts';
import type { PlaygroundEndpoint } from '../../api/endpoints.ts';
import type { Estimate } from '../../api/schema.ts';
import { creditsText } from '../../kit/format.ts';
import { Formula } from '../../kit/formula.tsx';
import { useText } from '../../text.tsx';
import type { Body, Draft } from './draft.ts';

const PAUSE_MS = 400;

interface EstimateLineProps {
  readonly endpoint: PlaygroundEndpoint;
  readonly body: Body;
  readonly draft: Draft;
  readonly isBroken: boolean;
}

/** What the call would cost, asked of the gateway itself; what it would refuse, it says here already. */
export function EstimateLine({ endpoint, body, draft, isBroken }: EstimateLineProps) {
  const { say, language } = useText();
  const seconds = useLength(draft.clip);
  const order = isBroken ? undefined : orderOf(endpoint, body, draft, seconds.data);
  const [settled] = useDebouncedValue(order === undefined ? undefined : JSON.stringify(order), PAUSE_MS);
  const estimate = useQuery({
    queryKey: ['/api/console/run/estimate', settled],
    queryFn: ({ signal }) =>
      api<Estimate>('/api/console/run/estimate', {
        method: 'POST',
        body: settled,
        contentType: 'application/json',
        signal,
      }),
    enabled: settled !== undefined,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    retry: false,
  });
  if (order === undefined) return null;
  if (estimate.error instanceof Refusal) {
    return (
      <Text size="sm" role="status" style={{ color: 'var(--warn)' }}>
        {estimate.error.message} <span className="mono">{estimate.error.code}</span>
      </Text>
    );
  }
  if (estimate.data === undefined) return <div style={{ minHeight: 42 }} />;
  return (
    <div role="status" data-testid="estimate">
      <Text size="sm" fw={600}>
        {say('playground.estimate', { credits: creditsText(estimate.data.credits, language) })}
      </Text>
      <Formula calculation={estimate.data} />
    </div>
  );
}

/** Words that stand for those still to be written, where they do not change the price. */
const SOME_WORDS = '…';

/** The body of an estimate. Undefined as long as the price depends on something that is not there. */
function orderOf(
  endpoint: PlaygroundEndpoint,
  body: Body,
  draft: Draft,
  seconds: number | undefined,
): Body | undefined {
  switch (endpoint) {
    case 'chat':
      return draft.message.trim() === '' ? undefined : { ...body, endpoint };
    case 'transcriptions':
      return seconds === undefined ? undefined : { model: body.model, duration_seconds: seconds, endpoint };
    case 'audio_speech':
      return body.input === undefined && body.voice_description === undefined ? undefined : { ...body, endpoint };
    // The price of pictures and clips is not in their words: writing them asks nothing anew.
    case 'images':
    case 'image_edits':
    case 'videos':
      return { ...body, prompt: SOME_WORDS, endpoint };
    case 'audio_music':
      return { ...body, prompt: body.prompt ?? SOME_WORDS, endpoint };
  }
}

/** How long a sound is, as the browser reads it; undefined where it cannot. */
function useLength(clip: File | undefined) {
  return useQuery({
    queryKey: ['length', clip?.name, clip?.size, clip?.lastModified],
    queryFn: () => (clip === undefined ? null : lengthOf(clip)),
    enabled: clip !== undefined,
    select: (seconds) => seconds ?? undefined,
  });
}

function lengthOf(clip: File): Promise<number | null> {
  return new Promise((resolve) => {
    const sound = new Audio();
    const url = URL.createObjectURL(clip);
    const end = (seconds: number | null) => {
      URL.revokeObjectURL(url);
      resolve(seconds);
    };
    sound.addEventListener('loadedmetadata', () => end(Number.isFinite(sound.duration) ? sound.duration : null));
    sound.addEventListener('error', () => end(null));
    sound.preload = 'metadata';
    sound.src = url;
  });
}
