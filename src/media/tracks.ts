import { Unreadable } from './buffered-reader.ts';
import { checkedSeconds, type Measured, playedSeconds } from './measured.ts';

/** What a container of both holds of one kind, on the time line that all its tracks share. */
export interface Track {
  readonly kind: 'video' | 'audio';
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** What its packets play, where they were counted; 0 otherwise. */
  readonly countedSeconds: number;
  readonly isCounted: boolean;
  readonly width?: number;
  readonly height?: number;
}

/** An encoder fills its last frame of sound, so sound outlasts the pictures it belongs to by up to this much. */
const FILLED_SECONDS_MAX = 0.1;

/** From where the first track begins to where the last one ends, or as long as the packets of its sound play. */
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
  const counted = Math.max(0, ...audio.map(({ countedSeconds }) => countedSeconds));
  const seconds = checkedSeconds(playedSeconds(end - start, counted));
  const stated = audio.every(({ isCounted }) => isCounted) ? {} : ({ isStated: true } as const);
  return { ...size, seconds, hasAudio: audio.length > 0, hasVideo: video.length > 0, ...stated };
}
