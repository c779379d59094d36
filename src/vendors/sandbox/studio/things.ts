import { curve, polyline, round } from './letters.ts';
import { mix, type ThingName } from './scene.ts';

/** How one thing is drawn: about 100 units high, standing on or floating at (0, 0). `turn` goes once round in a loop. */
interface Look {
  readonly color: string;
  readonly isNight: boolean;
  readonly turn: number;
}

type Drawn = (look: Look) => string;

const wave = (turn: number, amount: number) => round(amount * Math.sin(turn));
const shape = (points: readonly (readonly [number, number])[], fill: string) =>
  `<path d="${polyline(points)}Z" fill="${fill}"/>`;
const circle = (x: number, y: number, r: number, fill: string) =>
  `<circle cx="${x}" cy="${y}" r="${r}" fill="${fill}"/>`;
const rect = (x: number, y: number, width: number, height: number, fill: string, corner = 0) =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${corner}" fill="${fill}"/>`;
const line = (path: string, color: string, width: number) =>
  `<path d="${path}" fill="none" stroke="${color}" stroke-width="${width}" stroke-linecap="round"/>`;
const dark = (color: string) => mix(color, '#101020', 0.35);
const light = (color: string) => mix(color, '#ffffff', 0.4);

function star(points: number, outer: number, inner: number): (readonly [number, number])[] {
  return Array.from({ length: points * 2 }, (_, index) => {
    const [radius, angle] = [index % 2 === 0 ? outer : inner, (Math.PI * index) / points - Math.PI / 2];
    return [radius * Math.cos(angle), radius * Math.sin(angle)] as const;
  });
}

/** What stands, swims or flies in a scene. The rest of a scene's things are its surroundings. */
export const FIGURES: Readonly<Partial<Record<ThingName, Drawn>>> = {
  tree: ({ color, turn }) =>
    `${rect(-5, -42, 10, 42, '#6b4a2f', 3)}<g transform="rotate(${wave(turn, 2)})">${circle(-18, -52, 22, dark(color))}${circle(18, -52, 22, dark(color))}${circle(0, -72, 27, color)}${circle(-8, -80, 10, light(color))}</g>`,
  house: ({ color, isNight }) => {
    const pane = isNight ? '#ffd877' : '#bfe3ff';
    const walls = rect(24, -98, 10, 34, dark(color)) + rect(-45, -55, 90, 55, mix(color, '#fff4e0', 0.55));
    const roof = shape(
      [
        [-55, -53],
        [0, -100],
        [55, -53],
      ],
      color,
    );
    return (
      walls +
      roof +
      rect(-10, -34, 20, 34, dark(color), 2) +
      rect(-36, -42, 18, 18, pane, 2) +
      rect(18, -42, 18, 18, pane, 2)
    );
  },
  boat: ({ color, turn }) =>
    `<g transform="translate(0 ${wave(turn, 4)}) rotate(${wave(turn + 1, 3)})">${rect(-2, -100, 4, 90, '#5a4632')}${shape(
      [
        [5, -98],
        [5, -22],
        [48, -22],
      ],
      '#fffaf0',
    )}${shape(
      [
        [-5, -84],
        [-5, -22],
        [-34, -22],
      ],
      light(color),
    )}<path d="M-58 -15H58L42 8H-42Z" fill="${color}"/><path d="M-52 -6H50" stroke="${light(color)}" stroke-width="4"/></g>`,
  car: ({ color, turn }) =>
    `<g transform="translate(${wave(turn, 14)} 0)"><path d="M-70 -14V-34Q-68 -42 -48 -44L-28 -66H26L48 -44Q70 -42 70 -30V-14Z" fill="${color}"/>${shape(
      [
        [-38, -46],
        [-24, -60],
        [-3, -60],
        [-3, -46],
      ],
      '#cfeaff',
    )}${shape(
      [
        [3, -46],
        [3, -60],
        [23, -60],
        [38, -46],
      ],
      '#cfeaff',
    )}${[-40, 40].map((x) => circle(x, -12, 14, '#1c1f26') + circle(x, -12, 6, '#b9c0c9')).join('')}</g>`,
  person: ({ color, turn }) =>
    `${line('M-7 -34L-11 0M7 -34L11 0', '#2b3242', 9)}${line(`M-13 -64L-26 ${round(-44 + wave(turn, 8))}M13 -64L27 ${round(-46 - wave(turn, 8))}`, color, 8)}<path d="M-15 -70Q0 -78 15 -70L13 -30H-13Z" fill="${color}"/>${circle(0, -87, 12, '#e8b48c')}<path d="M-12 -88Q-10 -101 2 -100Q13 -98 12 -86Q4 -94 -12 -88Z" fill="#4a2f22"/>`,
  animal: ({ color, turn }) =>
    `${line('M-26 -18V0M-14 -18V0M16 -18V0M28 -18V0', dark(color), 9)}${line(`M-36 -38Q-58 -48 -54 ${round(-70 + wave(turn, 8))}`, color, 9)}<ellipse cx="0" cy="-34" rx="40" ry="21" fill="${color}"/>${shape(
      [
        [28, -66],
        [33, -90],
        [43, -70],
      ],
      dark(color),
    )}${shape(
      [
        [46, -70],
        [56, -90],
        [60, -64],
      ],
      dark(color),
    )}${circle(44, -56, 20, color)}<ellipse cx="52" cy="-49" rx="11" ry="8" fill="${light(color)}"/>${circle(40, -60, 3.2, '#14161c')}${circle(52, -60, 3.2, '#14161c')}${circle(57, -51, 3.4, '#14161c')}`,
  flower: ({ color, turn }) =>
    `<g transform="rotate(${wave(turn, 4)})">${line('M0 0Q4 -30 0 -66', '#3f8f45', 5)}<path d="M1 -22Q24 -44 34 -26Q18 -12 1 -22Z" fill="#4fa653"/>${Array.from({ length: 8 }, (_, index) => `<ellipse cx="0" cy="-19" rx="9" ry="16" fill="${index % 2 === 0 ? color : light(color)}" transform="translate(0 -72) rotate(${index * 45})"/>`).join('')}${circle(0, -72, 10, '#ffd24a')}</g>`,
  fish: ({ color, turn }) =>
    `<g transform="translate(${wave(turn, 10)} ${wave(turn * 2, 3)})"><path d="M-34 0L-62 ${round(-20 + wave(turn * 3, 5))}L-54 0L-62 ${round(20 + wave(turn * 3, 5))}Z" fill="${dark(color)}"/><path d="M-40 0Q-4 -38 42 0Q-4 38 -40 0Z" fill="${color}"/><path d="M-6 -18Q4 0 -6 18" fill="none" stroke="${light(color)}" stroke-width="4"/>${circle(24, -5, 4.5, '#ffffff')}${circle(25, -5, 2.4, '#14161c')}</g>`,
  bird: ({ color, turn }) => {
    const lift = round(-26 + wave(turn * 3, 14));
    return line(
      `${curve([
        [-50, lift],
        [-22, -30],
        [0, 0],
      ])}${curve([
        [0, 0],
        [22, -30],
        [50, lift],
      ])}`,
      color,
      8,
    );
  },
  balloon: ({ color, turn }) =>
    `<g transform="translate(0 ${wave(turn, 8)})">${line('M-16 -22L-9 -6M16 -22L9 -6', '#5a4632', 2)}<path d="M0 -18Q-46 -48 -40 -84Q-30 -124 0 -124Q30 -124 40 -84Q46 -48 0 -18Z" fill="${color}"/><path d="M0 -18Q-20 -60 -14 -100Q-10 -122 0 -124Q10 -122 14 -100Q20 -60 0 -18Z" fill="${light(color)}"/>${rect(-10, -7, 20, 15, '#8a5a34', 3)}</g>`,
  rocket: ({ color, turn }) =>
    `<g transform="rotate(18) translate(0 ${wave(turn, 8)})"><path d="M-10 0Q0 ${round(46 + wave(turn * 3, 12))} 10 0Z" fill="#ffb020"/><path d="M-18 -18L-34 8L-14 0Z M18 -18L34 8L14 0Z" fill="${dark(color)}"/><path d="M-16 0Q-26 -64 0 -112Q26 -64 16 0Z" fill="#f4f6fa"/><path d="M-13 -78Q-8 -98 0 -112Q8 -98 13 -78Z" fill="${color}"/>${circle(0, -56, 9, '#4aa8e8')}</g>`,
  circle: ({ color }) => circle(0, -50, 50, color) + circle(-15, -66, 14, light(color)),
  square: ({ color }) => rect(-48, -98, 96, 96, color, 4) + rect(-38, -88, 34, 10, light(color), 4),
  triangle: ({ color }) =>
    shape(
      [
        [-58, 0],
        [0, -100],
        [58, 0],
      ],
      color,
    ) + line('M-34 -14L-4 -66', light(color), 6),
  star: ({ color, turn }) =>
    `<g transform="translate(0 -50) rotate(${wave(turn, 6)})">${shape(star(5, 54, 23), color)}${shape(star(5, 26, 11), light(color))}</g>`,
  heart: ({ color, turn }) =>
    `<path transform="translate(0 -46) scale(${round(1 + wave(turn * 2, 0.05) * 1)})" d="M0 46Q-60 4 -50 -26Q-38 -54 -10 -44Q-2 -40 0 -30Q2 -40 10 -44Q38 -54 50 -26Q60 4 0 46Z" fill="${color}"/>`,
};

/** The colour of a thing whose colour nobody told. */
export const OWN_COLORS: Readonly<Partial<Record<ThingName, string>>> = {
  tree: '#3f8f45',
  animal: '#d98a4a',
  bird: '#2b3242',
  boat: '#c0413a',
  house: '#b5533c',
  fish: '#f58a1f',
};
