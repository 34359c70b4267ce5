import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as units from '@grafana/grafana-foundation-sdk/units';
import { describe, expect, it } from 'vitest';
import { FOLDER, files } from '../../grafana/src/dashboards.ts';
import { DATASOURCE } from '../../grafana/src/panels.ts';
import { type BoardFile, boards, panelsOf } from './support/boards.ts';

const METRICS = readFileSync(join(FOLDER, '../../docs/metrics.md'), 'utf8');
const NAMES = ['overview', 'operator', 'deliveries', 'money-safety', 'bonus', 'runtime'];
const KNOWN_UNITS: ReadonlySet<unknown> = new Set(Object.values(units));

it('the dashboards that are committed are those that `npm run dashboards` makes', () => {
  const committed = readdirSync(FOLDER).sort();
  expect(committed).toEqual([...files().keys()].sort());
  for (const [name, content] of files()) {
    expect(readFileSync(join(FOLDER, name), 'utf8'), name).toBe(content);
  }
});

it('there is a dashboard for each question', () => {
  expect(
    boards()
      .map(({ uid }) => uid)
      .sort(),
  ).toEqual(NAMES.map((n) => `wagergate-${n}`).sort());
});

describe.each(boards())('the dashboard $title', (board: BoardFile) => {
  it('lets the data source and the operator be chosen', () => {
    const variables = board.templating.list.map(({ name, type }) => [name, type]);
    expect(variables).toEqual([
      ['datasource', 'datasource'],
      ['operator', 'query'],
    ]);
  });

  it('leads to the others with what was chosen', () => {
    expect(board.links).toMatchObject([
      { type: 'dashboards', tags: board.tags, includeVars: true, keepTime: true },
    ]);
  });

  it('gives each panel an id, a title, a question it answers, a unit, thresholds and queries', () => {
    const panels = panelsOf(board);
    expect(new Set(board.panels.map(({ id }) => id)).size).toBe(board.panels.length);
    for (const { title, description, fieldConfig, targets } of panels) {
      expect(title).not.toBe('');
      expect(description.length, title).toBeGreaterThan(20);
      expect(KNOWN_UNITS, title).toContain(fieldConfig.defaults.unit);
      expect(fieldConfig.defaults.thresholds.steps.length, title).toBeGreaterThan(0);
      expect(targets.length, title).toBeGreaterThan(0);
      for (const { datasource } of targets) {
        expect(datasource, title).toEqual(DATASOURCE);
      }
    }
  });

  it('shows a number that nobody knows as such, in the colour of neither good nor bad', () => {
    for (const { type, title, fieldConfig } of panelsOf(board)) {
      expect(fieldConfig.defaults.noValue, title).toMatch(/^(none, or )?no data$/);
      if (type !== 'stat') continue;
      expect(fieldConfig.defaults.mappings, title).toContainEqual({
        type: 'special',
        options: { match: 'null+nan', result: { text: 'no data', color: 'text' } },
      });
    }
  });

  it('shows as numbers what is now, however long the chosen time is', () => {
    for (const { type, title, targets } of panelsOf(board)) {
      if (type !== 'stat') continue;
      for (const { expr } of targets) expect(expr, title).not.toContain('$__rate_interval');
    }
  });

  it('shows whole numbers where events are counted', () => {
    for (const { type, title, fieldConfig, targets } of panelsOf(board)) {
      const counts =
        type !== 'timeseries' && targets.some(({ expr }) => /increase\([^[]*\[1h\]/.test(expr));
      // `short` without decimals makes 1,499 of them 1 K.
      if (counts)
        expect(fieldConfig.defaults, title).toMatchObject({ unit: 'locale', decimals: 0 });
    }
  });

  it('gives every end of a callback or a call its own colour', () => {
    const ends = [
      ...labelValues('`outcome` of a callback'),
      ...labelValues('`result` of a wallet call'),
    ];
    expect(ends.length).toBeGreaterThan(10);
    for (const { title, type, fieldConfig, targets } of panelsOf(board)) {
      const byEnd = targets.some(
        ({ expr, legendFormat }) =>
          ['{{outcome}}', '{{result}}'].includes(legendFormat) && !/bonus|config/.test(expr),
      );
      if (type !== 'timeseries' || !byEnd) continue;
      const coloured = fieldConfig.overrides.map(({ matcher }) => matcher.options);
      expect(coloured, title).toEqual(expect.arrayContaining(ends));
    }
  });
});

it('the overview says whose wallet it is on the first screen', () => {
  const overview = boards().find(({ uid }) => uid === 'wagergate-overview');
  const headings = overview?.panels.filter(({ type }) => type === 'row') ?? [];
  expect(headings.map(({ title }) => title).slice(0, 2)).toEqual([
    'At a glance',
    'One operator or all?',
  ]);
});

it('a choice of operators that changes nothing is only passed on', () => {
  for (const { title, panels, templating } of boards()) {
    const used = panels.some((panel) => JSON.stringify(panel).includes('$operator'));
    const hidden = templating.list.some(({ name, hide }) => name === 'operator' && hide === 2);
    expect(hidden, title).toBe(!used);
  }
});

/** A row of the table of labels in docs/metrics.md. */
function labelValues(label: string): readonly string[] {
  const row = METRICS.split('\n').find((line) => line.startsWith(`| ${label} |`)) ?? '';
  return row.split('|')[2]?.trim().split(', ') ?? [];
}
