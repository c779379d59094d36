/** Line icons on a grid of 20, in the colour of the text. They repeat a word beside them and are hidden from readers. */
const PATHS = {
  overview: 'M3 10.5 10 4l7 6.5M5 9v7h10V9',
  playground: 'M6 4.5v11l9-5.5z',
  activity: 'M3 11h3l2-6 4 10 2-4h3',
  jobs: 'M3 5h14v10H3zM3 12l4-4 4 4 2-2 4 3.5',
  transcriptions: 'M10 3v8M7 5v4M13 5v4M4 9c0 4 3 6 6 6s6-2 6-6M10 15v3',
  files: 'M5 3h6l4 4v10H5zM11 3v4h4',
  keys: 'M12 8a3.5 3.5 0 1 1-3.3 2.3L3 16v2h3v-2h2v-2l1.5-1.5',
  credits: 'M10 3.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM10 7v6M7.5 10h5',
  apps: 'M4 4h5v5H4zM11 4h5v5h-5zM4 11h5v5H4zM13.5 11v5M11 13.5h5',
  members:
    'M7.5 9a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 16c0-3 2-5 4.5-5s4.5 2 4.5 5M13 4.5a2.5 2.5 0 0 1 0 4.5M14 11.5c2 .5 3 2.2 3 4.5',
  models: 'M10 3l6 3.5v7L10 17l-6-3.5v-7zM4 6.5 10 10l6-3.5M10 10v7',
  today: 'M4 15V9M8 15V5M12 15v-4M16 15V7',
  accounts: 'M4 4h12v12H4zM4 8h12M8 8v8',
  upstreams: 'M4 5h12v4H4zM4 11h12v4H4zM7 7h.01M7 13h.01',
  configuration: 'M5 4v12M10 4v12M15 4v12M3 8h4M8 13h4M13 7h4',
  clients: 'M6 10a4 4 0 0 1 8 0v2M4 12h12v5H4z',
  people: 'M10 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM4 17c0-3.5 2.5-5.5 6-5.5s6 2 6 5.5',
  audit: 'M5 3h10v14l-2-1.5L10 17l-3-1.5L5 17zM8 7h4M8 10h4',
  books: 'M4 4h5a1.5 1.5 0 0 1 1 .5 1.5 1.5 0 0 1 1-.5h5v11h-5l-1 1-1-1H4zM10 5v10',
  profile: 'M10 10a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM5 16c.5-3 2.5-4 5-4s4.5 1 5 4',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      aria-hidden="true"
    >
      <path d={PATHS[name]} strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
