import { checkedSeconds, type Measured } from './measured.ts';
import { Unreadable } from './readable.ts';

/** What a container of both holds of one kind, on the time line that all its tracks share. */
export interface Track {
  readonly kind: 'video' | 'audio';
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly width?: number;
  readonly height?: number;
}

/** An encoder fills its last frame of sound, so sound outlasts the pictures it belongs to by up to this much. */
const FILLED_SECONDS_MAX = 0.1;

/** From where the first track begins to where the last one ends. */
export function measureTracks(tracks: readonly Track[]): Measured {
  const video = tracks.filter(({ kind }) => kind === 'video');
  const audio = tracks.filter(({ kind }) => kind === 'audio');
  if (tracks.length === 0) throw new Unreadable('it holds no track of pictures or sound');
  const start = Math.min(...tracks.map(({ startSeconds }) => startSeconds));
  const videoEnd = Math.max(0, ...video.map(({ endSeconds }) => endSeconds));
  const audioEnd = Math.max(0, ...audio.map(({ endSeconds }) => endSeconds));
  const isFilled = video.length > 0 && audioEnd > videoEnd && audioEnd - videoEnd <= FILLED_SECONDS_MAX;
  const end = isFilled ? videoEnd : Math.max(videoEnd, audioEnd);
  const [{ width, height } = {}] = video;
  const size = width !== undefined && height !== undefined ? { width, height } : {};
  return { ...size, seconds: checkedSeconds(end - start), hasAudio: audio.length > 0, hasVideo: video.length > 0 };
}
