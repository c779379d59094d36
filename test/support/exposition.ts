import assert from 'node:assert/strict';
import { request } from 'undici';

/** One line of a scrape. */
export interface Point {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What Prometheus would read at an address. */
export class Scrape {
  readonly text: string;
  readonly points: readonly Point[];

  constructor(text: string) {
    this.text = text;
    this.points = text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map(pointOf);
  }

  static async of(url: string, token?: string): Promise<Scrape> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await request(url, { headers });
    assert.equal(answer.statusCode, 200);
    assert.match(String(answer.headers['content-type']), /^text\/plain; version=0\.0\.4/);
    return new Scrape(await answer.body.text());
  }

  /** The value of the one series that has these labels, whatever others it has; undefined where there is none. */
  value(name: string, labels: Record<string, string> = {}): number | undefined {
    const found = this.points.filter((point) => point.name === name && hasLabels(point, labels));
    assert.ok(found.length <= 1, `${name} ${JSON.stringify(labels)} is ${found.length} series`);
    return found[0]?.value;
  }

  /** Every metric with the labels that any of its series has. */
  labelsByName(): Map<string, Set<string>> {
    const names = new Map<string, Set<string>>();
    for (const { name, labels } of this.points) {
      const known = names.get(name) ?? new Set();
      for (const label of Object.keys(labels)) known.add(label);
      names.set(name, known);
    }
    return names;
  }
}

function hasLabels(point: Point, labels: Record<string, string>): boolean {
  return Object.entries(labels).every(([name, value]) => point.labels[name] === value);
}

function pointOf(line: string): Point {
  const [, name, labels = '', value] =
    /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? assert.fail(`no line of metrics: ${line}`);
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, text]) => [label, text]);
  return { name: name ?? '', labels: Object.fromEntries(pairs), value: Number(value) };
}
