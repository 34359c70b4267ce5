import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as units from '@grafana/grafana-foundation-sdk/units';
import { describe, expect, it } from 'vitest';
import { FOLDER, files } from '../../grafana/src/dashboards.ts';
import { DATASOURCE } from '../../grafana/src/panels.ts';
import { type BoardFile, boards, panelsOf } from './support/boards.ts';

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
      expect(fieldConfig.defaults.noValue, title).toBe('no data');
      if (type !== 'stat') continue;
      expect(fieldConfig.defaults.mappings, title).toContainEqual({
        type: 'special',
        options: { match: 'null+nan', result: { text: 'no data', color: 'text' } },
      });
    }
  });

  it('lays its panels out without gaps in width and without overlaps', () => {
    for (const panel of board.panels) {
      const { x, w } = panel.gridPos;
      expect(x + w, panel.title).toBeLessThanOrEqual(24);
      const others = board.panels.filter(({ id }) => id !== panel.id);
      expect(others.filter((other) => overlaps(panel.gridPos, other.gridPos))).toEqual([]);
    }
  });
});

type Box = BoardFile['panels'][number]['gridPos'];

function overlaps(one: Box, other: Box): boolean {
  const apart =
    one.x + one.w <= other.x ||
    other.x + other.w <= one.x ||
    one.y + one.h <= other.y ||
    other.y + other.h <= one.y;
  return !apart;
}
