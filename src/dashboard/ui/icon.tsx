// Line icons on a 16 px grid, 1.5 px strokes, drawn here so that no font or file has to be fetched.

const PATHS = {
  chart: 'M3 2.5v11h11M6 9.5V6m3 5V4.5m3 4V7',
  candles: 'M5 2.5v2m0 6v3m6-11v3m0 5v3M3.5 4.5h3v6h-3zM9.5 5.5h3v5h-3z',
  code: 'M6 4.5 2.5 8 6 11.5m4-7L13.5 8 10 11.5',
  report: 'M3.5 2.5h9v11h-9zM6 6h4M6 8.5h4M6 11h2.5',
  list: 'M5.5 4.5H13M5.5 8H13m-7.5 3.5H13M3 4.5h.01M3 8h.01M3 11.5h.01',
  bell: 'M4 11.5V7.2a4 4 0 0 1 8 0v4.3M2.8 11.5h10.4M6.8 13.7h2.4',
  bulb: 'M6 11.2h4M6.4 13.5h3.2M8 2.5a4 4 0 0 0-2.3 7.2c.3.3.5.8.5 1.5h3.6c0-.7.2-1.2.5-1.5A4 4 0 0 0 8 2.5z',
  replay: 'M3 3.5v3.2h3.2M3.3 9.5A5 5 0 1 0 4 4.9L3 6.7M7 6v4l3.2-2z',
  webhook:
    'M6.2 7.4 4.4 10.6M8 3.6a2 2 0 0 1 1.7 3l2 3.4M9.5 11.5H6.3M4.9 9.6a2 2 0 1 0 1.6 2M11.2 9.6a2 2 0 1 1-1.7 3M6.3 6.6a2 2 0 0 1 1.5-3',
  settings:
    'M8 5.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4zM8 2v1.6m0 8.8V14m6-6h-1.6M3.6 8H2m10.2-4.2-1.1 1.1M4.9 11.1l-1.1 1.1m8.4 0-1.1-1.1M4.9 4.9 3.8 3.8',
  help: 'M6.2 6.2a1.9 1.9 0 1 1 2.7 1.7c-.6.3-.9.7-.9 1.4M8 11.5h.01M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2z',
  search: 'M7 2.8a4.2 4.2 0 1 0 0 8.4 4.2 4.2 0 0 0 0-8.4zM10.2 10.2l3.3 3.3',
  user: 'M8 2.8a2.6 2.6 0 1 0 0 5.2 2.6 2.6 0 0 0 0-5.2zM3 13.5a5 5 0 0 1 10 0',
  close: 'M4 4l8 8m0-8-8 8',
  plus: 'M8 3v10M3 8h10',
  check: 'M3 8.5 6.5 12 13 4.5',
  chevron: 'M4.5 6.5 8 10l3.5-3.5',
  up: 'M8 13V3.5M4.5 7 8 3.5 11.5 7',
  down: 'M8 3v9.5M4.5 9 8 12.5 11.5 9',
  play: 'M5 3.2v9.6L12.5 8z',
  pause: 'M5.5 3.5v9m5-9v9',
  step: 'M4 3.5v9L9.5 8zM12 3.5v9',
  back: 'M12 3.5v9L6.5 8zM4 3.5v9',
  layers: 'M8 2.5 14 5.5 8 8.5 2 5.5zM2 8.2l6 3 6-3M2 10.9l6 3 6-3',
  bookmark: 'M4.5 2.5h7v11L8 10.6 4.5 13.5z',
  copy: 'M5.5 5.5h8v8h-8zM3 10.5h-.5v-8h8V3',
  trash: 'M3 4.5h10M6.5 4.5v-2h3v2M4.3 4.5l.7 9h6l.7-9M6.8 7v4M9.2 7v4',
  download: 'M8 2.5V10M4.8 7 8 10.2 11.2 7M3 13.5h10',
  upload: 'M8 10.5V3M4.8 6 8 2.8 11.2 6M3 13.5h10',
  external: 'M9.5 2.5h4v4M13.5 2.5 8 8M11.5 9v4.5h-9v-9H7',
  eye: 'M1.8 8S4 3.8 8 3.8 14.2 8 14.2 8 12 12.2 8 12.2 1.8 8 1.8 8zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z',
  sun: 'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1.8v1.4m0 9.6v1.4m6.2-6.2h-1.4M3.2 8H1.8m10.6-4.4-1 1M4.6 11.4l-1 1m8.8 0-1-1M4.6 4.6l-1-1',
  moon: 'M13 9.6A5.5 5.5 0 0 1 6.4 3a5.5 5.5 0 1 0 6.6 6.6z',
  expand: 'M9.5 2.5h4v4M6.5 13.5h-4v-4M13.5 2.5 9 7M2.5 13.5 7 9',
  camera: 'M2.5 5h2.3l1-1.5h4.4l1 1.5h2.3v8h-11zM8 6.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4z',
  star: 'M8 2.5l1.7 3.6 3.8.5-2.8 2.7.7 3.9L8 11.3l-3.4 1.9.7-3.9L2.5 6.6l3.8-.5z',
  tune: 'M3 4.5h5m3 0h2M3 11.5h2m3 0h5M9.5 3v3M6.5 10v3',
  clock: 'M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2zM8 5v3.2l2.2 1.4',
  grip: 'M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01',
  note: 'M3.5 2.5h9v8l-3 3h-6zM12.5 10.5h-3v3M6 5.5h4M6 8h2.5',
  more: 'M3.2 8a.3.3 0 1 0 .6 0 .3.3 0 1 0-.6 0M7.7 8a.3.3 0 1 0 .6 0 .3.3 0 1 0-.6 0M12.2 8a.3.3 0 1 0 .6 0 .3.3 0 1 0-.6 0',
} as const
export type IconName = keyof typeof PATHS

interface IconProps {
  readonly name?: IconName
  /** One of another place's own. */
  readonly path?: string
  readonly size?: number
}

/** Hidden from screen readers: the control around it has a name. */
export const Icon = ({ name, path, size = 16 }: IconProps) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    stroke-width="1.4"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    <path d={path ?? PATHS[name!]} />
  </svg>
)
