import { Button, FileButton, Group, Stack, Text } from '@mantine/core';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Transcription } from '../../api/schema.ts';
import { CopyButton } from '../../kit/copy.tsx';
import { SaveButton, useBlobUrl } from '../../kit/save.tsx';
import { useSay } from '../../text.tsx';
import { clockText, type Line, linesOf, subRip, webVtt } from './lines.ts';

interface TranscriptProps {
  readonly name: string;
  readonly result: Pick<Transcription, 'text' | 'segments' | 'words' | 'estimated_times'>;
  /** The sound, if this page still has it. */
  readonly clip: File | undefined;
}

/** A transcript that follows its sound: playing marks the word, and a line begins to play where it is clicked. */
export function Transcript({ name, result, clip }: TranscriptProps) {
  const say = useSay();
  const [picked, setPicked] = useState<File | null>(null);
  const url = useBlobUrl(picked ?? clip);
  const player = useRef<HTMLAudioElement>(null);
  const lines = useMemo(() => linesOf(result), [result]);
  const at = usePosition(player, url, lines);
  const seek = (seconds: number) => {
    if (player.current === null) return;
    player.current.currentTime = seconds;
    void player.current.play();
  };
  return (
    <Stack gap="md">
      {url === undefined ? (
        <PickClip pick={setPicked} hasTimes={lines.length > 0} />
      ) : (
        // biome-ignore lint/a11y/useMediaCaption: the transcript below is its caption.
        <audio ref={player} src={url} controls aria-label={say('transcriptions.sound')} style={{ width: '100%' }} />
      )}
      {lines.length === 0 ? (
        <Text style={{ whiteSpace: 'pre-wrap' }}>{result.text}</Text>
      ) : (
        <ol className="lines" aria-label={say('transcriptions.text')}>
          {lines.map((line, index) => (
            <SpokenLine
              key={line.start}
              line={line}
              word={at.line === index ? at.word : undefined}
              seek={url === undefined ? undefined : seek}
            />
          ))}
        </ol>
      )}
      {result.estimated_times && (
        <Text size="xs" className="soft">
          {say('transcriptions.estimated')}
        </Text>
      )}
      <Group gap="xs">
        <CopyButton text={result.text} />
        <SaveButton label={say('transcriptions.saveText')} name={`${name}.txt`} content={result.text} />
        {lines.length > 0 && (
          <>
            <SaveButton label="SRT" name={`${name}.srt`} content={subRip(lines)} type="application/x-subrip" />
            <SaveButton label="VTT" name={`${name}.vtt`} content={webVtt(lines)} type="text/vtt" />
          </>
        )}
      </Group>
    </Stack>
  );
}

function PickClip({ pick, hasTimes }: { readonly pick: (file: File | null) => void; readonly hasTimes: boolean }) {
  const say = useSay();
  return (
    <Group gap="sm">
      <FileButton onChange={pick} accept="audio/*,video/*">
        {(props) => (
          <Button {...props} variant="default" size="compact-sm">
            {say('transcriptions.pick')}
          </Button>
        )}
      </FileButton>
      <Text size="xs" className="soft" style={{ flex: '1 1 14rem' }}>
        {say(hasTimes ? 'transcriptions.pickAbout' : 'transcriptions.pickPlain')}
      </Text>
    </Group>
  );
}

interface SpokenLineProps {
  readonly line: Line;
  /** Which of its words is heard now. */
  readonly word: number | undefined;
  readonly seek: ((seconds: number) => void) | undefined;
}

function SpokenLine({ line, word, seek }: SpokenLineProps) {
  const say = useSay();
  const words = line.words.map(({ text, start }, index) => (
    <span key={`${start} ${text}`} data-now={index === word ? true : undefined}>
      {text}{' '}
    </span>
  ));
  const time = <span className="soft num">{clockText(line.start)}</span>;
  if (seek === undefined) {
    return (
      <li className="line">
        {time}
        <span>{words}</span>
      </li>
    );
  }
  return (
    <li aria-current={word === undefined ? undefined : 'true'}>
      <button
        type="button"
        className="line"
        title={say('transcriptions.playFrom', { time: clockText(line.start) })}
        onClick={() => seek(line.start)}
      >
        {time}
        <span>{words}</span>
      </button>
    </li>
  );
}

interface Position {
  readonly line: number;
  readonly word: number;
}

const NOWHERE: Position = { line: -1, word: -1 };

/** What is heard now. Looked at with every frame while it plays, drawn anew only when it is another word. */
function usePosition(
  player: { readonly current: HTMLAudioElement | null },
  url: string | undefined,
  lines: readonly Line[],
): Position {
  const [at, setAt] = useState(NOWHERE);
  useEffect(() => {
    const audio = player.current;
    if (url === undefined || audio === null) return;
    let frame = 0;
    const look = () => {
      const next = positionAt(lines, audio.currentTime);
      setAt((old) => (old.line === next.line && old.word === next.word ? old : next));
      if (!audio.paused) frame = requestAnimationFrame(look);
    };
    const events = ['play', 'seeked', 'timeupdate'] as const;
    const start = () => {
      cancelAnimationFrame(frame);
      look();
    };
    for (const event of events) audio.addEventListener(event, start);
    return () => {
      cancelAnimationFrame(frame);
      for (const event of events) audio.removeEventListener(event, start);
    };
  }, [player, url, lines]);
  return at;
}

function positionAt(lines: readonly Line[], seconds: number): Position {
  const line = lines.findLastIndex(({ start }) => start <= seconds);
  const words = lines[line]?.words ?? [];
  return {
    line,
    word: Math.max(
      0,
      words.findLastIndex(({ start }) => start <= seconds),
    ),
  };
}
