import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../src/cli/program.ts';
import { Terminal } from '../src/cli/terminal.ts';
import { createMetrics } from '../src/telemetry/metrics.ts';

const ROOT = resolve(import.meta.dirname, '..');
const PAGES = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
].sort();

const PROGRAM = createProgram(
  new Terminal({
    env: {},
    stdin: Readable.from([]),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
  }),
);

const METRICS = new Set(
  createMetrics()
    .registry.getMetricsAsArray()
    .map(({ name }) => name),
);

describe.each(PAGES)('%s', (page) => {
  const text = read(page);
  const prose = text.replaceAll(/^```.*?^```/gms, '');

  it('links to what there is', () => {
    const broken = [...prose.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].filter(([, link = '']) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : join(dirname(page), path);
      if (!existsSync(join(ROOT, target))) return true;
      return anchor !== undefined && !anchorsOf(target).has(anchor);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  it('names only metrics that there are', () => {
    const named = [...text.matchAll(/`(gateway_[a-z_]+)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !METRICS.has(name))).toEqual([]);
  });
});

describe('the commands that the documents name', () => {
  const said = PAGES.flatMap((page) => commandsIn(page).map((line) => ({ page, line })));

  it('are there, with their options', () => {
    expect(said.length).toBeGreaterThan(10);
    const wrong = said.filter(({ line }) => !isUnderstood(line));
    expect(wrong).toEqual([]);
  });

  it('are scripts of package.json, where npm runs them', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const named = PAGES.flatMap((page) => [...read(page).matchAll(/npm run ([a-z]+)/g)]);
    const names = new Set(named.map(([, name = '']) => name));
    expect([...names].filter((name) => !(name in scripts))).toEqual([]);
  });
});

/**
 * The commands on a page: what follows `npx wagergate`, or `wagergate` at the beginning of code, up to the end of
 * the code, with lines joined at `\\`.
 */
function commandsIn(page: string): string[] {
  const text = read(page).replaceAll(/\\\n\s*/g, ' ');
  return [...text.matchAll(/(?:npx |`|^)wagergate ([a-z][^`\n#|)]*)/gm)].map(([, line = '']) =>
    line.trim(),
  );
}

function isUnderstood(line: string): boolean {
  let command: Command = PROGRAM;
  for (const word of line.split(/\s+/)) {
    const known = [...command.options, ...PROGRAM.options].map(({ long }) => long);
    if (word.startsWith('--') && !known.includes(word)) return false;
    // A word that is no command is an argument, except where only commands are allowed.
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined && isGroup(command)) return false;
    command = next ?? command;
  }
  return !isGroup(command);
}

/** A group does nothing by itself; `certify` does, although `certify compare` is below it. */
function isGroup({ commands, options }: Command): boolean {
  return commands.length > 0 && options.length === 0;
}

/** The anchors that GitHub makes from headings. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = read(page).matchAll(/^#+ (.*)$/gm);
  const slug = (title: string) => title.toLowerCase().replaceAll(/[^\w\- ]/g, '');
  return new Set([...headings].map(([, title = '']) => slug(title).replaceAll(' ', '-')));
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
