import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const FOLDERS = ['src', 'tools', 'test', 'bench', 'prisma', 'config', 'grafana', 'helm', 'docs'];
const THIS = 'test/docs-citations.test.ts';

/** Documents of this project's beginnings, which a clone does not have. */
const ELSEWHERE = /\b(?:interface|addendum)\)?\\?\.md\b|\bCONTRACT\b|\bARCHITECTURE\b/;

/** `docs/protocol.md, Errors`: a page, and what follows its comma. */
const CITATION = /\b(docs\/[\w./-]+\.md)(?:, ([^\n]{0,200}))?/g;

const files = [
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map(
      (file) => `${folder}/${file}`,
    ),
  ),
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
]
  .filter((file) => /\.(ts|mjs|md|ya?ml|prisma|sql|tpl)$/.test(file))
  .filter((file) => !file.startsWith('src/store/prisma-client/') && file !== THIS)
  .sort();

const headingsOf = remember((page: string) =>
  [...read(page).matchAll(/^#+ (.*)$/gm)]
    .map(([, title = '']) => title)
    .sort((one, other) => other.length - one.length),
);

describe('a citation', () => {
  it('never names a document that is not in the repository', () => {
    const strays = files.flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line, at) => (ELSEWHERE.test(line) ? [`${file}:${at + 1} ${line.trim()}`] : [])),
    );
    expect(strays).toEqual([]);
  });

  it('leads to a page and a heading that there are', () => {
    const said = files.flatMap((file) =>
      [...unwrapped(read(file)).matchAll(CITATION)].map(([all, page = '', section]) => ({
        where: `${file}: ${all.slice(0, 80)}`,
        mistake: mistakeIn(page, section),
      })),
    );
    expect(said.length).toBeGreaterThan(100);
    expect(said.filter(({ mistake }) => mistake !== undefined)).toEqual([]);
  });
});

describe('a name with its file behind it in brackets', () => {
  /** `decideConfirm` and `lateAfter` (`src/domain/confirm.ts`). */
  const NAMED = /((?:`[\w.]+`(?:, | and )?)+) \(`((?:src|test|tools)\/[\w./-]+\.ts)`/g;

  it('stands in that file', () => {
    const said = files
      .filter((file) => file.endsWith('.md') && file !== 'CHANGELOG.md')
      .flatMap((page) =>
        [...read(page).replaceAll(/\s+/g, ' ').matchAll(NAMED)].flatMap(
          ([, names = '', file = '']) =>
            [...names.matchAll(/(\w+)`/g)].map(([, name = '']) => ({ page, name, file })),
        ),
      );
    expect(said.length).toBeGreaterThan(50);
    const isWrong = ({ name, file }: { readonly name: string; readonly file: string }) =>
      !new RegExp(`\\b${name}\\b`).test(read(file));
    expect(said.filter(isWrong)).toEqual([]);
  });
});

function mistakeIn(page: string, section: string | undefined): string | undefined {
  let headings: readonly string[];
  try {
    headings = headingsOf(page);
  } catch {
    return 'no such page';
  }
  let rest = section;
  while (rest !== undefined && /^(?!RFC )[A-Z"]/.test(rest)) {
    const words = rest;
    const heading = headings.find(
      (one) => words.startsWith(one) && !/^\w/.test(words.slice(one.length)),
    );
    if (heading === undefined) return 'no such heading';
    // Further sections follow "; " or " and " and begin with a capital letter; other words do not.
    const behind = /^(?: (\d+))?(?: and \d+)?(?: \([^)]*\))?(?:(?:; | and )(.*))?/.exec(
      words.slice(heading.length),
    );
    const rule = behind?.[1];
    if (rule !== undefined && !rulesOf(page, heading).includes(rule)) return `no rule ${rule}`;
    rest = behind?.[2];
  }
  return undefined;
}

/** The numbers of a section's numbered list. */
function rulesOf(page: string, heading: string): string[] {
  const [, body = ''] = read(page).split(new RegExp(`^#+ ${heading}$`, 'm'));
  const [own = ''] = body.split(/^#/m);
  return [...own.matchAll(/^(\d+)\. /gm)].map(([, rule = '']) => rule);
}

/** Without the line breaks inside comments and paragraphs, which may split a citation. */
function unwrapped(text: string): string {
  return text.replaceAll(/\n[ \t]*(?:\*(?!\/)|\/\/+|#)?[ \t]*(?=\S)/g, ' ');
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function remember<V>(work: (key: string) => V): (key: string) => V {
  const known = new Map<string, V>();
  return (key) => {
    const value = known.get(key) ?? work(key);
    known.set(key, value);
    return value;
  };
}
