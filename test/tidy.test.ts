import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { TESTED_FILE, testedNumbers } from '../scripts/requirements.ts';
import { ERROR_TABLE, errorType } from '../src/errors.ts';
import { vendors } from '../src/vendors/index.ts';

// The house rules that a machine can check. docs/ARCHITECTURE.md says why they are as they are.

const LEVELS: readonly (readonly string[])[] = [
  ['(single files)', 'text'],
  ['db', 'fetch', 'mail', 'media', 'pricing', 'schemas', 'signals', 'storage', 'throttle'],
  ['audit', 'backup', 'configuration', 'objects'],
  ['accounts', 'catalogue', 'ledger', 'request-log', 'usage', 'vendors'],
  ['billing', 'exports', 'reports', 'routing'],
  ['formats', 'leased'],
  ['calls', 'files', 'jobs', 'oauth', 'people', 'transcriptions'],
  ['mcp'],
  ['http', 'metrics', 'worker'],
  ['(app)'],
  ['cli'],
  ['(main)'],
];

/** The rooms of http/, each importing from those before it; pages and routes are side by side. */
const ROOMS: readonly string[] = ['views', 'contract', 'edge', 'routes'];

const TOP_FILES: Readonly<Record<string, string>> = {
  'app.ts': '(app)',
  'edges.ts': '(app)',
  'embedded-database.ts': '(app)',
  'first-start.ts': '(app)',
  'open-signals.ts': '(app)',
  'start-configuration.ts': '(app)',
  'main.ts': '(main)',
};
/** What each package may import of the gateway. The gateway imports a package by its name only. */
const DOORS: Readonly<Record<string, RegExp>> = {
  'embedded-postgres': /^src\/[\w-]+\.ts$/,
  // It starts whole gateways, reads their database, and emulates upstreams.
  verify: /^src\/(?:[\w-]+|db\/index|ledger\/index|vendors\/[\w-]+\/(?:emulator|[\w/-]+))\.ts$/,
  sandbox: /^src\/(?:[\w-]+|(?:schemas|text)\/index|vendors\/(?:vendor|kit\/[\w-]+))\.ts$/,
  // They run in programs of callers, where there is no gateway to import.
  client: /^$/,
  'ai-sdk-provider': /^$/,
};
/** Packages that run in programs of callers, by the clock of those. */
const LIBRARIES = ['client', 'ai-sdk-provider'];
/** Types made from the contracts, held to them by a test. */
const GENERATED = ['packages/client/src/contract.ts'];
/** Runs campaigns against emulators, and so may import and name vendors; it alone starts a gateway. */
const CAMPAIGNS = 'verify';
/** What a process begins with. */
const ENTRY_POINTS = ['src/main.ts', 'packages/verify/src/process.ts'];
const FILE_LINES_MAX = 300;
const FUNCTION_LINES_MAX = 70;
const INDEX_EXPORTS_MAX = 15;
const BANNED_WORDS = /^(provider|channel|manager|service|handler|helper|util|common|base|info)s?$/i;

const PERSONS = /\b(?:whoever|nobody|somebody|everybody|anybody|someone|anyone|everyone)\b/i;

/** What a vendor's tests run against lies beside the vendor, and is no part of the program. */
const OF_TESTS = /\.test\.ts$|\/emulator(\.ts$|\/)|^src\/vendors\/[\w-]+\/contract\.ts$/;

const gatewaySources = globSync('src/**/*.ts').filter((file) => !OF_TESTS.test(file));
const packageSources = globSync('packages/*/src/**/*.ts').filter((file) => !OF_TESTS.test(file));
const sources = [...gatewaySources, ...packageSources];
const textOf = (file: string) => readFileSync(file, 'utf8');

test('every import goes to a lower level and through the folder’s index.ts', () => {
  const faults = gatewaySources.flatMap((file) => importsOf(file).flatMap((target) => importFault(file, target)));
  assert.deepEqual(faults, []);
});

test('a room of http/ imports no later one', () => {
  const faults = sources.flatMap((file) =>
    importsOf(file)
      .filter((target) => roomOf(file) < roomOf(target))
      .map((target) => `${file} imports ${target}`),
  );
  assert.deepEqual(faults, []);
});

test('a package reaches the gateway through its doors, and is reached by its name', () => {
  const packages = new Set(packageSources.map((file) => packageOf(file) ?? file));
  assert.deepEqual([...packages].sort(), Object.keys(DOORS).sort());
  const outward = packageSources.flatMap((file) =>
    importPathsOf(file).filter((path) => packageOf(path) !== packageOf(file) && !isDoor(file, path)),
  );
  const inward = gatewaySources.filter((file) => importPathsOf(file).some((path) => path.startsWith('packages/')));
  assert.deepEqual([...outward, ...inward], []);
});

test('the gateway and each package import what their own package.json lists, and list nothing else', () => {
  for (const folder of ['.', ...Object.keys(DOORS).map((name) => `packages/${name}`)]) {
    const files = folder === '.' ? gatewaySources : packageSources.filter((file) => file.startsWith(`${folder}/`));
    const { dependencies } = JSON.parse(textOf(`${folder}/package.json`));
    // Of this tree's own packages an operator chooses; a published library brings those that it needs.
    const isLibrary = LIBRARIES.some((name) => folder === `packages/${name}`);
    const isListed = (name: string) => isLibrary || !name.startsWith('@tollgate/');
    const imported = new Set(files.flatMap(packagesIn).filter(isListed));
    assert.deepEqual([...imported].sort(), Object.keys(dependencies).sort(), folder);
  }
});

test('nothing of the program imports a test, an emulator or what tests share', () => {
  const faults = sources.filter((file) =>
    importPathsOf(file).some(
      (path) => (OF_TESTS.test(path) && packageOf(file) !== CAMPAIGNS) || /^(test|scripts)\//.test(path),
    ),
  );
  assert.deepEqual(faults, []);
});

test('every folder has its level, and every level its folders', () => {
  const folders = [...new Set(gatewaySources.map(folderOf))].sort();
  assert.deepEqual(folders, LEVELS.flat().sort());
});

test('no source file is longer than a person reads at a sitting', () => {
  const written = sources.filter((file) => !GENERATED.includes(file));
  const long = written.filter((file) => textOf(file).split('\n').length > FILE_LINES_MAX);
  assert.deepEqual(long, []);
});

test('no function is longer than a screen', () => {
  assert.deepEqual(sources.flatMap(longFunctions), []);
});

test('every index.ts is a short comment and at most fifteen named re-exports', () => {
  for (const file of sources.filter((source) => /^(?:src\/[\w-]+|packages\/[\w-]+\/src)\/index\.ts$/.test(source))) {
    const text = textOf(file);
    const comment = /^\/\*\*[\s\S]*?\*\//.exec(text)?.[0] ?? '';
    const lines = comment.split('\n').length;
    assert.ok(lines >= 1 && lines <= 10 && comment !== '', `${file} begins with a comment of at most eight lines`);
    const names = [...text.matchAll(/export \{([^}]*)\}/g)].flatMap(([, list = '']) =>
      list.split(',').filter((name) => name.trim() !== '' && !name.includes('type ')),
    );
    assert.ok(names.length <= INDEX_EXPORTS_MAX, `${file} exports ${names.length} values`);
  }
});

test('no file, type or function has a name that says nothing', () => {
  const files = sources.filter((file) => saysNothing(basename(file, '.ts')));
  const names = sources.flatMap((file) =>
    [...textOf(file).matchAll(/\b(?:function|class|interface|type) (\w+)/g)]
      .filter(([, name = '']) => saysNothing(name))
      .map(([, name = '']) => `${file}: ${name}`),
  );
  assert.deepEqual([...files, ...names], []);
});

test('no function name is defined in three files', () => {
  const files = new Map<string, Set<string>>();
  for (const file of sources.filter((source) => !isOfVendors(source))) {
    for (const [, name = ''] of textOf(file).matchAll(/^(?:export )?(?:async )?function\*? (\w+)/gm)) {
      files.set(name, (files.get(name) ?? new Set()).add(file));
    }
  }
  const faults = [...files].filter(([, places]) => places.size > 2).map(([name, places]) => [name, ...places]);
  assert.deepEqual(faults, []);
});

test('comments name processes, transactions and callers, not persons', () => {
  const files = [...sources, ...globSync(['scripts/**/*.ts', 'test/{chaos,fuzz,simulate,support}/**/*.ts'])];
  const faults = files.flatMap((file) => commentsOf(file).filter((comment) => PERSONS.test(comment))).sort();
  assert.deepEqual(faults, []);
});

test('no vendor is named outside its folder', () => {
  const names = vendors.map((vendor) => vendor.name).filter((name) => name !== 'sandbox');
  const pattern = new RegExp(`\\b(${names.join('|')})\\b`, 'i');
  // Two name the base URL for the client libraries of one of them, which is public; the third imports such a library.
  const named = ['src/http/contract/facade.ts', 'src/cli/work/sound.ts', 'packages/ai-sdk-provider/src/chat.ts'];
  const isOutside = (file: string) => !isOfVendors(file) && packageOf(file) !== CAMPAIGNS && !named.includes(file);
  const outside = sources.filter(isOutside);
  const faults = outside.filter((file) => pattern.test(textOf(file)));
  assert.deepEqual(faults, []);
});

test('a vendor imports no other vendor, and a format only through its index.ts', () => {
  const faults = sources
    .filter((file) => /^src\/vendors\/[^/]+\//.test(file))
    .filter((file) => importsOf(file).some((target) => isOtherVendor(file, target)));
  assert.deepEqual(faults, []);
});

test('a vendor or a format has at most 900 lines beside its tests, contract and emulator', () => {
  const work = sources.filter((file) => !/\/(?:emulator|contract)\b/.test(file));
  const folderIn = /^src\/vendors\/(?:formats\/)?(?!kit\/)[^/]+(?=\/)/;
  const folders = Map.groupBy(work, (file) => folderIn.exec(file)?.[0] ?? 'elsewhere');
  folders.delete('elsewhere');
  assert.ok(folders.size >= vendors.length - 1);
  const lines = [...folders].map(([folder, files]) => [folder, files.map(textOf).join('').split('\n').length - 1]);
  assert.deepEqual(
    lines.filter(([, count = 0]) => Number(count) > 900),
    [],
  );
});

test('the terms of a vendor import nothing of its work at run time', () => {
  const light = sources.filter((file) =>
    /^src\/vendors\/(?:[\w-]+\/(?:index|terms)|formats\/[\w-]+\/terms)\.ts$/.test(file),
  );
  assert.ok(light.length >= vendors.length - 1);
  const faults = light.flatMap((file) => {
    const isLight = (path: string) => basename(file) === 'index.ts' && basename(path) === 'terms.ts';
    const imported = [...textOf(file).matchAll(/^(?:import|export) (?!type )[^;]*? from '([^']+)';$/gm)];
    return imported.filter(([, path = '']) => !isLight(path)).map(([line]) => `${file}: ${line}`);
  });
  assert.deepEqual(faults, []);
});

test('a call to an upstream is made by a wire only, which has a fault table', () => {
  const ofVendors = sources.filter(isOfVendors);
  const makers = ofVendors.filter((file) => /import \{[^}]*\} from '[^']*\/exchange\.ts'/.test(textOf(file)));
  assert.deepEqual(makers, ['src/vendors/kit/wire.ts']);
  const clients = ofVendors.filter((file) => /from '(undici|node:https?)'/.test(textOf(file)));
  assert.deepEqual(clients.sort(), ['src/vendors/kit/exchange.ts', 'src/vendors/kit/http.ts']);
});

test('the code table equals docs/errors.md', () => {
  const rows = [...textOf('docs/errors.md').matchAll(/^\| `(\w+)` \| (\d+) \| `(\w+)` \|/gm)];
  const documented = rows.map(([, code, status, type]) => `${code} ${status} ${type}`).sort();
  const codes = Object.keys(ERROR_TABLE) as (keyof typeof ERROR_TABLE)[];
  const declared = codes.map((code) => `${code} ${ERROR_TABLE[code][0]} ${errorType(code)}`).sort();
  assert.deepEqual(documented, declared);
});

test('each word of the glossary is found in the file that it names', () => {
  const rows = [...textOf('docs/glossary.md').matchAll(/^\| ([^|]+) \| [^|]+ \| `([^`]+)` \|$/gm)];
  const words = rows.map(([, word = '']) => word);
  assert.ok(words.length > 100);
  assert.deepEqual([...new Set(words)], words, 'each word has one meaning');
  const faults = rows.filter(([, word = '', file = '']) => !existsSync(file) || !usesWord(textOf(file), word));
  assert.deepEqual(
    faults.map(([row]) => row),
    [],
  );
});

test('settings are read in one place, and time comes from the clock', () => {
  const readers = sources.filter((file) => textOf(file).includes('process.env') && !ENTRY_POINTS.includes(file));
  assert.deepEqual(readers, []);
  const timed = sources.filter((file) => file !== 'src/clock.ts' && !LIBRARIES.includes(packageOf(file) ?? ''));
  const clocks = timed.filter((file) => /Date\.now\(\)|new Date\(\)/.test(textOf(file)));
  assert.deepEqual(clocks, []);
});

test('how long a statement may take is said in one place, to the server and to the client at once', () => {
  const faults = sources.filter((file) => /(?:statement|query)_timeout/.test(textOf(file)) && folderOf(file) !== 'db');
  assert.deepEqual(
    faults.filter((file) => packageOf(file) !== 'embedded-postgres'),
    [],
  );
});

test('no tracked text names a machine’s own folders', () => {
  const files = [
    ...sources,
    ...globSync(['docs/**/*.md', '{test,packages}/**/*.ts', 'scripts/**/*', '*.md', 'migrations/*.sql']),
  ];
  const texts = files.filter((file) => /\.(ts|mjs|md|sql)$/.test(file));
  const faults = texts.filter((file) => /(?<![\w.$}])\/(work|root|home)\/[a-z]/.test(textOf(file)));
  assert.deepEqual(faults, []);
});

test('no requirement that had a test has lost it', () => {
  const tested = new Set(testedNumbers());
  const before = textOf(TESTED_FILE).match(/\d{3}/g) ?? [];
  assert.ok(before.length > 0);
  assert.deepEqual(
    before.filter((number) => !tested.has(Number(number))),
    [],
  );
});

/** Each line of a comment, with its place. Lines of code are passed over, comments behind code included. */
function commentsOf(file: string): string[] {
  const lines = textOf(file).split('\n');
  return lines.flatMap((line, at) => (/^\s*(?:\/\/|\/?\*)/.test(line) ? [`${file}:${at + 1}: ${line.trim()}`] : []));
}

/** As words of a text, or as part of a name. */
function usesWord(text: string, term: string): boolean {
  const words = term.replace(/ \(.*\)$/, '').split(/[^A-Za-z]+/);
  const camelCase = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return new RegExp(`\\b${words.join('[\\s*_-]*')}`, 'i').test(text) || text.includes(camelCase);
}

function saysNothing(name: string): boolean {
  const words = name.split(/(?=[A-Z])|[-_.]/);
  return words.some((word) => BANNED_WORDS.test(word));
}

function folderOf(file: string): string {
  const [, folder = '', ...rest] = file.split('/');
  if (rest.length > 0) return folder;
  return TOP_FILES[folder] ?? '(single files)';
}

/** NaN outside these rooms, so that no comparison with it is true. */
function roomOf(file: string): number {
  const [, room = ''] = /^src\/http\/(\w+)\//.exec(file) ?? [];
  const place = ROOMS.indexOf(room);
  return place < 0 ? Number.NaN : place;
}

function packageOf(file: string): string | undefined {
  return /^packages\/([^/]+)\//.exec(file)?.[1];
}

function isDoor(file: string, target: string): boolean {
  const isOfStart = target.split('/').length === 2 && basename(target) in TOP_FILES;
  return (!isOfStart || packageOf(file) === CAMPAIGNS) && DOORS[packageOf(file) ?? '']?.test(target) === true;
}

function isOfVendors(file: string): boolean {
  return file.startsWith('src/vendors/') || packageOf(file) === 'sandbox';
}

/** The npm packages that a file imports, or resolves files of. */
function packagesIn(file: string): string[] {
  const found = textOf(file).matchAll(/\b(?:from |import\(|import\.meta\.resolve\()'(?!node:)([@\w][^']*)'/g);
  return [...found].map(([, path = '']) => path.split('/', path.startsWith('@') ? 2 : 1).join('/'));
}

function levelOf(folder: string): number {
  return LEVELS.findIndex((folders) => folders.includes(folder));
}

function importsOf(file: string): string[] {
  return importPathsOf(file).filter((path) => path.startsWith('src/'));
}

function importPathsOf(file: string): string[] {
  const found = textOf(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g);
  return [...found].map(([, path = '']) => normalize(join(dirname(file), path)));
}

function importFault(file: string, target: string): string[] {
  const [from, to] = [folderOf(file), folderOf(target)];
  if (from === to) return [];
  if (levelOf(to) >= levelOf(from)) return [`${file} imports ${target}, which is not on a lower level`];
  const isThroughIndex = to.startsWith('(') || target === `src/${to}/index.ts`;
  return isThroughIndex ? [] : [`${file} imports ${target} past its index.ts`];
}

function isOtherVendor(file: string, target: string): boolean {
  const own = file.split('/')[2];
  const [, folder, name, ...rest] = target.split('/');
  if (folder !== 'vendors' || rest.length === 0 || name === own || name === 'kit') return false;
  // The hosts of a format are data, which an upstream is checked by before its vendor is loaded.
  if (name === 'formats') return !['index.ts', 'terms.ts'].includes(rest.at(-1) ?? '');
  return !(file.endsWith('emulator.ts') && rest.join('/') === 'emulator.ts');
}

/** Counts from a function's first line to the brace that closes it at the same indentation. */
function longFunctions(file: string): string[] {
  const lines = textOf(file).split('\n');
  return lines.flatMap((line, start) => {
    const opening = /^(\s*)(?:export )?(?:async )?(?:function (\w+)|(?:static |async |#)*(\w+)\([^)]*\)[^;]*\{$)/.exec(
      line,
    );
    if (opening === null || !line.trimEnd().endsWith('{')) return [];
    const closings = [`${opening[1]}}`, `${opening[1]}},`];
    const end = lines.findIndex((closing, at) => at > start && closings.includes(closing));
    const length = end - start + 1;
    const name = opening[2] ?? opening[3];
    // A list of routes is as long as it has routes.
    return length > FUNCTION_LINES_MAX && name?.endsWith('Routes') !== true
      ? [`${file}: ${name} (${length} lines)`]
      : [];
  });
}
