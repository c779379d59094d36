import { useSay } from '../text.tsx';

interface MediaProps {
  readonly kind: 'image' | 'video' | 'audio' | 'thumbnail';
  readonly url: string;
  readonly label: string;
  /** In pixels, where they are known: its place is then kept free while it loads. */
  readonly width?: number | undefined;
  readonly height?: number | undefined;
}

/** A picture, a clip or a sound, to be looked at or listened to in place. */
export function Media({ kind, url, label, width, height }: MediaProps) {
  const say = useSay();
  switch (kind) {
    case 'image':
    case 'thumbnail':
      return <img className="media" src={url} alt={label} width={width} height={height} />;
    case 'video':
      return (
        // biome-ignore lint/a11y/useMediaCaption: a generated clip has none.
        <video
          className="media"
          src={url}
          width={width}
          height={height}
          controls
          playsInline
          preload="metadata"
          aria-label={label}
        >
          {say('media.unplayable')}
        </video>
      );
    case 'audio':
      return (
        // biome-ignore lint/a11y/useMediaCaption: a generated sound has none.
        <audio src={url} controls preload="metadata" aria-label={label} style={{ width: '100%' }}>
          {say('media.unplayable')}
        </audio>
      );
  }
}
