import { mix, type ThingName } from './scene.ts';

/** How one thing is drawn: about 100 units high, standing on or floating at (0, 0). */
interface Look {
  readonly color: string;
  readonly isNight: boolean;
  /** Goes once round in a loop. */
  readonly turn: number;
}

/** How a figure moves while the loop goes round: by how many degrees, units aside and units up it swings, and whether it flaps. */
interface Motion {
  readonly tilt?: number;
  readonly aside?: number;
  readonly up?: number;
  readonly flap?: number;
}

/**
 * What stands, swims or flies in a scene; the rest of a scene's things are its surroundings. `{c}` is the figure's
 * colour, `{d}` a darker and `{l}` a lighter one, `{p}` what shines through its windows.
 */
// biome-ignore format: a table of drawings
const FIGURES: Readonly<Partial<Record<ThingName, readonly [Motion, string]>>> = {
  tree: [{ tilt: 2 }, '<path d="M-5 0V-42H5V0Z" fill="#6b4a2f"/><circle cx="-18" cy="-52" r="22" fill="{d}"/><circle cx="18" cy="-52" r="22" fill="{d}"/><circle cy="-72" r="27" fill="{c}"/><circle cx="-8" cy="-80" r="10" fill="{l}"/>'],
  house: [{}, '<path d="M24 -64V-98H34V-64Z" fill="{d}"/><path d="M-45 0V-55H45V0Z" fill="{w}"/><path d="M-55 -53L0 -100L55 -53Z" fill="{c}"/><path d="M-10 0V-34H10V0Z" fill="{d}"/><path d="M-36 -42h18v18h-18ZM18 -42h18v18h-18Z" fill="{p}"/>'],
  gate: [{}, '<path d="M-58 0V-62H-26V0Z" fill="{w}"/><path d="M-64 -60L-42 -84L-20 -60Z" fill="{c}"/><path d="M-52 -50h20v18h-20Z" fill="{p}"/><path d="M-16 0V-40H-4V0Z" fill="#3a4250"/><path d="M-10 -34L96 -58" stroke="#fff" stroke-width="9"/><path d="M-10 -34L96 -58" stroke="{c}" stroke-width="9" stroke-dasharray="14 14"/>'],
  boat: [{ tilt: 3, up: 4 }, '<path d="M-2 -10V-100H2V-10Z" fill="#5a4632"/><path d="M5 -98V-22H48Z" fill="#fffaf0"/><path d="M-5 -84V-22H-34Z" fill="{l}"/><path d="M-58 -15H58L42 8H-42Z" fill="{c}"/><path d="M-52 -6H50" stroke="{l}" stroke-width="4"/>'],
  car: [{ aside: 14 }, '<path d="M-70 -14V-34Q-68 -42 -48 -44L-28 -66H26L48 -44Q70 -42 70 -30V-14Z" fill="{c}"/><path d="M-38 -46L-24 -60H-3V-46ZM3 -46V-60H23L38 -46Z" fill="#cfeaff"/><circle cx="-40" cy="-12" r="10" fill="#b9c0c9" stroke="#1c1f26" stroke-width="8"/><circle cx="40" cy="-12" r="10" fill="#b9c0c9" stroke="#1c1f26" stroke-width="8"/>'],
  person: [{ tilt: 3 }, '<path d="M-7 -34L-11 0M7 -34L11 0" stroke="#2b3242" stroke-width="9" stroke-linecap="round"/><path d="M-13 -64L-26 -44M13 -64L27 -46" stroke="{c}" stroke-width="8" stroke-linecap="round"/><path d="M-15 -70Q0 -78 15 -70L13 -30H-13Z" fill="{c}"/><circle cy="-87" r="12" fill="#e8b48c"/><path d="M-12 -88Q-10 -101 2 -100Q13 -98 12 -86Q4 -94 -12 -88Z" fill="#4a2f22"/>'],
  animal: [{ aside: 6 }, '<path d="M-26 -18V0M-14 -18V0M16 -18V0M28 -18V0" stroke="{d}" stroke-width="9" stroke-linecap="round"/><path d="M-36 -38Q-58 -48 -54 -70" fill="none" stroke="{c}" stroke-width="9" stroke-linecap="round"/><ellipse cy="-34" rx="40" ry="21" fill="{c}"/><path d="M28 -66L33 -90L43 -70ZM46 -70L56 -90L60 -64Z" fill="{d}"/><circle cx="44" cy="-56" r="20" fill="{c}"/><ellipse cx="52" cy="-49" rx="11" ry="8" fill="{l}"/><path d="M40 -60v0M52 -60v0M57 -51v0" stroke="#14161c" stroke-width="7" stroke-linecap="round"/>'],
  flower: [{ tilt: 4 }, `<path d="M0 0Q4 -30 0 -66" fill="none" stroke="#3f8f45" stroke-width="5"/><path d="M1 -22Q24 -44 34 -26Q18 -12 1 -22Z" fill="#4fa653"/>${[0, 45, 90, 135, 180, 225, 270, 315].map((angle) => `<ellipse cy="-19" rx="9" ry="16" fill="${angle % 90 === 0 ? '{c}' : '{l}'}" transform="translate(0 -72) rotate(${angle})"/>`).join('')}<circle cy="-72" r="10" fill="#ffd24a"/>`],
  fish: [{ aside: 10, tilt: 5 }, '<path d="M-34 0L-62 -20L-54 0L-62 20Z" fill="{d}"/><path d="M-40 0Q-4 -38 42 0Q-4 38 -40 0Z" fill="{c}"/><path d="M-6 -18Q4 0 -6 18" fill="none" stroke="{l}" stroke-width="4"/><circle cx="24" cy="-5" r="3" fill="#14161c" stroke="#fff" stroke-width="3"/>'],
  bird: [{ aside: 8, flap: 0.4 }, '<path d="M-50 -26Q-22 -30 0 0Q22 -30 50 -26" fill="none" stroke="{c}" stroke-width="8" stroke-linecap="round"/>'],
  balloon: [{ up: 8 }, '<path d="M-16 -22L-9 -6M16 -22L9 -6" stroke="#5a4632" stroke-width="2"/><path d="M0 -18Q-46 -48 -40 -84Q-30 -124 0 -124Q30 -124 40 -84Q46 -48 0 -18Z" fill="{c}"/><path d="M0 -18Q-20 -60 -14 -100Q-10 -122 0 -124Q10 -122 14 -100Q20 -60 0 -18Z" fill="{l}"/><path d="M-10 -7H10V8H-10Z" fill="#8a5a34"/>'],
  rocket: [{ up: 10, tilt: 2 }, '<g transform="rotate(18)"><path d="M-10 0Q0 46 10 0Z" fill="#ffb020"/><path d="M-18 -18L-34 8L-14 0ZM18 -18L34 8L14 0Z" fill="{d}"/><path d="M-16 0Q-26 -64 0 -112Q26 -64 16 0Z" fill="#f4f6fa"/><path d="M-13 -78Q-8 -98 0 -112Q8 -98 13 -78Z" fill="{c}"/><circle cy="-56" r="9" fill="#4aa8e8"/></g>'],
  circle: [{ up: 4 }, '<circle cy="-50" r="50" fill="{c}"/><circle cx="-15" cy="-66" r="14" fill="{l}"/>'],
  square: [{ up: 4 }, '<path d="M-48 -2V-98H48V-2Z" fill="{c}"/><path d="M-38 -88h34v10h-34Z" fill="{l}"/>'],
  triangle: [{ up: 4 }, '<path d="M-58 0L0 -100L58 0Z" fill="{c}"/><path d="M-34 -14L-4 -66" stroke="{l}" stroke-width="6"/>'],
  star: [{ tilt: 6, up: 4 }, '<path d="M0 -104L13 -69L51 -67L22 -43L32 -6L0 -27L-32 -6L-22 -43L-51 -67L-13 -69Z" fill="{c}"/><circle cy="-52" r="12" fill="{l}"/>'],
  heart: [{ up: 4, flap: 0.05 }, '<path d="M0 0Q-60 -42 -50 -72Q-38 -100 -10 -90Q-2 -86 0 -76Q2 -86 10 -90Q38 -100 50 -72Q60 -42 0 0Z" fill="{c}"/>'],
};

/** The colour of a thing for which the prompt names none. */
export const OWN_COLORS: Readonly<Partial<Record<ThingName, string>>> = {
  tree: '#3f8f45',
  animal: '#d98a4a',
  bird: '#2b3242',
  boat: '#c0413a',
  house: '#b5533c',
  gate: '#d8322c',
  fish: '#f58a1f',
  heart: '#e0342f',
};

export function isFigure(name: ThingName): boolean {
  return FIGURES[name] !== undefined;
}

export function drawFigure(name: ThingName, { color, isNight, turn }: Look): string {
  const [{ tilt = 0, aside = 0, up = 0, flap = 0 }, drawing] = FIGURES[name] ?? [{}, ''];
  const swing = Math.sin(turn);
  const colors: Readonly<Record<string, string>> = {
    c: color,
    d: mix(color, '#101020', 0.35),
    l: mix(color, '#ffffff', 0.4),
    w: mix(color, '#fff4e0', 0.55),
    p: isNight ? '#ffd877' : '#bfe3ff',
  };
  const moved = `translate(${aside * swing} ${up * swing}) rotate(${tilt * swing}) scale(1 ${1 + flap * Math.sin(3 * turn)})`;
  return `<g transform="${moved}">${drawing.replace(/\{(\w)\}/g, (_, name: string) => colors[name] ?? '')}</g>`;
}
