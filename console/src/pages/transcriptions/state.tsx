import type { ListedTranscription } from '../../api/schema.ts';
import { State, type Tone } from '../../kit/badge.tsx';
import { useSay } from '../../text.tsx';

export type TranscriptionStatus = ListedTranscription['status'];

const TONES: Readonly<Record<TranscriptionStatus, Tone>> = {
  pending: 'soft',
  processing: 'soft',
  completed: 'good',
  failed: 'bad',
  unavailable: 'bad',
  expired: 'warn',
};

export function TranscriptionState({ status }: { readonly status: TranscriptionStatus }) {
  const say = useSay();
  return <State tone={TONES[status]}>{say(`transcriptions.status.${status}`)}</State>;
}

export function isOpen(status: TranscriptionStatus): boolean {
  return status === 'pending' || status === 'processing';
}
