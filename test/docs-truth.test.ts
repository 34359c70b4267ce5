import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pageWithTargets } from '../bench/support/targets.ts';
import { pageWith } from '../scripts/write-invariants.ts';
import { CASES } from '../src/certify/cases/index.ts';
import { STATEMENT_HEADER } from '../src/domain/statement-csv.ts';
import { DELIVERY_STATES } from '../src/store/deliveries/delivery-item.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** How far a number in prose may be from the measured one. */
const ROUNDING = 0.05;

describe('docs/invariants.md', () => {
  const page = read('docs/invariants.md');

  it('lists the tests that carry each number; if not: npm run invariants', () => {
    expect(page).toBe(pageWith(page));
  });

  it('knows every number that a test carries', () => {
    const known = new Set([...page.matchAll(/^## (I\d+) /gm)].map(([, number]) => number));
    const carried = filesBelow('test')
      .flatMap((file) => [...read(file).matchAll(/\((I\d+(?:, ?I\d+)*)\)['`]/g)])
      .flatMap(([, numbers = '']) => numbers.split(/, ?/));
    expect([...new Set(carried)].filter((number) => !known.has(number))).toEqual([]);
  });
});

describe('docs/performance.md', () => {
  const page = read('docs/performance.md');

  it('tells every target and what was measured last; if not: npm run bench -- targets', () => {
    expect(page).toBe(pageWithTargets(page));
  });
});

describe('docs/for-operators.md', () => {
  it('says of each code that the protocol has for one operation alone that it is only for that', () => {
    const [, list = ''] = read('docs/protocol.md').split('| `code` | of | meaning |');
    const own = [...list.matchAll(/^\| ([\d, ]+) \| (place|settle)\b(?!.*rollback)/gm)];
    const codes = own.flatMap(([, all = '', of = '']) => all.split(', ').map((code) => [code, of]));
    expect(codes.length).toBeGreaterThan(9);
    const [table = ''] = read('docs/for-operators.md').split('The rules that money depends on');
    const rows = [...table.matchAll(/^\| ([\d, to]+) \| (.*) \|$/gm)];
    const says = (code: string) =>
      rows.find(([, told = '']) => told.split(', ').some((one) => covers(one, Number(code))))?.[2];
    const silent = codes.filter(
      ([code = '', of]) => says(code)?.startsWith(`*${of} only*`) === false,
    );
    expect(silent).toEqual([]);
  });
});

/** @param told a code, or a range such as `11 to 16` */
function covers(told: string, code: number): boolean {
  const [first = 0, last = first] = told.split(' to ').map(Number);
  return first <= code && code <= last;
}

describe('docs/records.md', () => {
  it('says of each table what ends its rows', () => {
    const [, list = ''] = read('docs/records.md').split('What else grows, and what ends it.');
    const told = [...list.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name);
    const tables = [...read('prisma/schema.prisma').matchAll(/@@map\("([a-z_]+)"\)/g)];
    expect(tables.length).toBeGreaterThan(20);
    expect(tables.map(([, name]) => name).filter((name) => !told.includes(name))).toEqual([]);
  });
});

describe('docs/mutants.md', () => {
  const page = read('docs/mutants.md');

  it.each(['callbacks', 'deliveries', 'engine'])(
    'names every file of %s, measured or not',
    (room) => {
      const names = filesBelow(`src/${room}`).map((file) => file.replace(/^.*\/|\.ts$/g, ''));
      expect(names.length).toBeGreaterThan(10);
      const isNamed = (name: string) => new RegExp(`[\`/]${name}(?:\\.ts)?\``).test(page);
      expect(names.filter((name) => !isNamed(name))).toEqual([]);
    },
  );
});

describe('docs/architecture.md', () => {
  const page = read('docs/architecture.md');
  const diagrams = [...page.matchAll(/```mermaid\nstateDiagram-v2\n(.*?)```/gs)].map(
    ([, diagram = '']) => diagram,
  );

  it.each([
    ['place', 0],
    ['settlement', 1],
    ['rollback', 2],
  ])("draws every %s state of a bet's row, and no other", (column, at) => {
    expect(statesOf(diagrams[at] ?? '')).toEqual(checkedWords(`bets_${column}_check`));
  });

  it("draws every state of a delivery's row, and no other", () => {
    const drawn = statesOf(diagrams[3] ?? '');
    expect(drawn).toEqual(checkedWords('deliveries_state_check'));
    // The states that people see: a live delivery belongs to its callback, a held one is pending.
    expect([...DELIVERY_STATES].sort()).toEqual(
      ['held', ...drawn].filter((state) => state !== 'live').sort(),
    );
  });

  it('lists every decision under its number and title', () => {
    const records = filesBelow('docs/decisions').map((file) => {
      const [, number = '', title = ''] = /^# (\d{4}) (.*)$/m.exec(read(file)) ?? [];
      expect(file).toMatch(new RegExp(`/${number}-`));
      return `| [${number}](${file.slice('docs/'.length)}) | ${title} |`;
    });
    expect(page.match(/^\| \[\d{4}\].*$/gm)).toEqual(records.sort());
  });
});

describe('docs/contract.md', () => {
  const page = read('docs/contract.md');
  const section = page.slice(page.indexOf('## Configuration'), page.indexOf('## Callbacks'));

  it.each(['gateway', 'operator'])('names every setting of the %s’s file', (file) => {
    const schema: unknown = JSON.parse(read(`config/${file}.schema.json`));
    const names = settingsIn(schema);
    expect(names.length).toBeGreaterThan(15);
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(section))).toEqual([]);
  });
});

describe('docs/books.md', () => {
  it('shows a statement whose CSV has the SHA-256 that stands above it, in its order', () => {
    const page = read('docs/books.md');
    const [, csv = ''] = /```\n(day,belongsTo,.*?)```/s.exec(page) ?? [];
    const [, said] = /^sha256 of its CSV: ([0-9a-f]{64})$/m.exec(page) ?? [];
    expect(createHash('sha256').update(csv).digest('hex')).toBe(said);
    expect(csv.startsWith(STATEMENT_HEADER)).toBe(true);
    const times = [...csv.matchAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g)].map(([time]) => time);
    expect(times).toHaveLength(5);
    expect(times).toEqual([...times].sort());
  });
});

describe('README.md', () => {
  const page = read('README.md');

  it('counts the cases of certification, as its page does', () => {
    const counted = [
      /plays (\d+) cases against a wallet/.exec(page)?.[1],
      /Its (\d+) cases are in/.exec(read('docs/certification.md'))?.[1],
    ];
    expect(counted).toEqual([String(CASES.length), String(CASES.length)]);
  });

  it('counts the dashboards', () => {
    expect(filesBelow('grafana/dashboards')).toHaveLength(6);
    expect(/holds (\w+) Grafana dashboards/.exec(page)?.[1]).toBe('six');
  });
});

describe('docs/errors.md', () => {
  const page = read('docs/errors.md');
  // What a gateway process logs; the console, certification and the command line have no log.
  const sources = filesBelow('src').filter((file) => !/^src\/(?:console|certify|cli)\//.test(file));
  const logged = sources.flatMap((file) =>
    [
      ...read(file).matchAll(
        /(?:\.(?:error|warn|fatal)|logger\[[^\]]+\])\([^;]*?'([a-z_]+\.[a-z_]+)',?\s*\)/g,
      ),
    ].map(([, name = '']) => name),
  );

  it('tells what every error and warning in the log means', () => {
    expect(new Set(logged).size).toBeGreaterThan(80);
    expect([...new Set(logged)].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it('explains only lines that are logged', () => {
    const section = page.slice(page.indexOf('## In the log'));
    const explained = [...section.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, names = '']) =>
      [...names.matchAll(/`([a-z_.]+)`/g)].map(([, name = '']) => name),
    );
    const source = sources.map(read).join('\n');
    expect(explained.filter((name) => !source.includes(`'${name}'`))).toEqual([]);
  });
});

describe('the numbers in the documents', () => {
  const pages = ['README.md', ...filesBelow('docs')].filter((file) => file.endsWith('.md'));
  // "3,800 <!-- callbacks gateway.requestsPerSecond --> place bets a second"
  const claims = pages.flatMap((page) =>
    [...read(page).matchAll(/([\d,.]+)\s<!-- (\w+) ([\w.]+)(?: \/ (\d+))? -->/g)].map(
      ([, said = '', benchmark = '', path = '', divisor = '1']) => ({
        claim: `${page}: ${said} is ${path} of bench/results/${benchmark}.json`,
        said: Number(said.replaceAll(',', '')),
        measured: measured(benchmark, path) / Number(divisor),
      }),
    ),
  );

  it('are there', () => {
    expect(claims.length).toBeGreaterThan(10);
  });

  it.each(claims)('$claim, rounded', ({ said, measured }) => {
    expect(Math.abs(said - measured) / measured).toBeLessThanOrEqual(ROUNDING);
  });
});

function measured(benchmark: string, path: string): number {
  let value: unknown = JSON.parse(read(`bench/results/${benchmark}.json`));
  for (const name of path.split('.')) {
    value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  }
  if (typeof value !== 'number') throw new Error(`${benchmark} has no number ${path}`);
  return value;
}

/** The names of a schema's members, at any depth; those of a dialect have their own section. */
function settingsIn(schema: unknown): string[] {
  const properties: unknown =
    typeof schema === 'object' && schema !== null ? Reflect.get(schema, 'properties') : undefined;
  if (typeof properties !== 'object' || properties === null) return [];
  return Object.entries(properties).flatMap(([name, member]) =>
    name === 'dialect' ? [name] : [name, ...settingsIn(member)],
  );
}

/** The states of a diagram: the two ends of each arrow. */
function statesOf(diagram: string): string[] {
  const arrows = [...diagram.matchAll(/^\s*(\S+) --> ([^\s:]+)/gm)];
  const names = new Set(arrows.flatMap(([, from = '', to = '']) => [from, to]));
  names.delete('[*]');
  return [...names].sort();
}

/** The words that the newest migration that names the constraint allows in a column. */
function checkedWords(constraint: string): string[] {
  const sql = filesBelow('prisma/migrations')
    .filter((file) => file.endsWith('.sql'))
    .map(read)
    .join('\n');
  const checks = [
    ...sql.matchAll(new RegExp(`${constraint}"\\s+CHECK[^']*((?:'\\w+',?\\s*)+)`, 'g')),
  ];
  return [...(checks.at(-1)?.[1] ?? '').matchAll(/\w+/g)].map(([word]) => word).sort();
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
    .sort();
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
