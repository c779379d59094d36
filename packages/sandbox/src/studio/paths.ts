/** Path data of SVG. */
export type Point = readonly [x: number, y: number];

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

export function polyline(points: readonly Point[]): string {
  return points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${round(x)} ${round(y)}`).join('');
}

/** Touches the first and the last point and bends towards those between. */
export function curve(points: readonly Point[]): string {
  return points
    .map(([x, y], index) => {
      const [nextX, nextY] = points[index + 1] ?? [x, y];
      if (index === 0) return `M${round(x)} ${round(y)}`;
      if (index === points.length - 1) return '';
      const part = index === points.length - 2 ? 1 : 0.5;
      return `Q${round(x)} ${round(y)} ${round(x + (nextX - x) * part)} ${round(y + (nextY - y) * part)}`;
    })
    .join('');
}

/** So many of something, one behind the other. */
export function many(count: number, one: (index: number) => string): string {
  return Array.from({ length: Math.round(count) }, (_, index) => one(index)).join('');
}
