/**
 * Sound files that this page has sent to be transcribed, by the transcription's id. The gateway keeps none, so that a
 * transcript can only be heard with the person's own copy.
 */
const clips = new Map<string, File>();
const CLIPS_MAX = 5;

export function rememberClip(id: string, clip: File): void {
  clips.set(id, clip);
  const [oldest] = clips.keys();
  if (clips.size > CLIPS_MAX && oldest !== undefined) clips.delete(oldest);
}

export function clipOf(id: string): File | undefined {
  return clips.get(id);
}
