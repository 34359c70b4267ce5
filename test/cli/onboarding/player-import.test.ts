import { expect, it } from 'vitest';
import { importPlayers } from '../../../src/cli/onboarding/player-import.ts';
import { PLAYERS_HEADER } from '../../../src/cli/onboarding/player-line.ts';

/** More than one batch. */
const LINES = 2_500;

it('reports unusable lines as it goes, and holds no file in memory', async () => {
  const told: number[] = [];
  let toldBeforeTheEnd = 0;
  async function* chunks() {
    yield Buffer.from(`${PLAYERS_HEADER}\n${'no player\n'.repeat(LINES)}`);
    toldBeforeTheEnd = told.length;
    yield Buffer.from('alpha,ann,user-1\nno player\n');
  }
  const tally = await importPlayers({
    chunks: chunks(),
    takeover: { take: async (lines) => lines.map(() => ({ kind: 'imported' })) },
    onRefused: (number) => told.push(number),
    onPlayer: () => undefined,
    onProgress: () => undefined,
  });
  expect(toldBeforeTheEnd).toBe(2_000);
  const [valid, last] = [LINES + 2, LINES + 3];
  expect(told).toEqual([...Array.from({ length: valid - 2 }, (_, at) => at + 2), last]);
  expect(tally).toEqual({
    ...{ lines: LINES + 2, imported: 1, unchanged: 0, conflicts: 0, invalid: LINES + 1 },
  });
});

it.each([
  'NULL',
  'null',
  '\\N',
  '1.23457E+15',
  '1,23457E+15',
  '1E+20',
  "'4711",
  'user\u200b1',
  'user\u00ad1',
  '\u2060user',
  'undefined',
  'NaN',
  '#N/A',
])('takes %j for no id of a player, and names the line', async (id) => {
  const told: [number, string][] = [];
  const taken: string[] = [];
  const tally = await importPlayers({
    chunks: (async function* chunks() {
      yield Buffer.from(
        `${PLAYERS_HEADER}\nalpha,ann,user-1\nalpha,ben,${id}\nalpha,${id},user-3\n`,
      );
    })(),
    takeover: { take: async (lines) => lines.map(() => ({ kind: 'imported' })) },
    onRefused: (number, why) => told.push([number, why]),
    onPlayer: ({ userId }) => taken.push(userId),
    onProgress: () => undefined,
  });
  expect(taken).toEqual(['user-1']);
  expect(told.map(([number]) => number)).toEqual([3, 4]);
  expect(tally).toMatchObject({ imported: 1, invalid: 2 });
});

it.each(['12E5', 'nullable', 'N', 'a.1E5'])('takes %j for an id', async (id) => {
  const tally = await importPlayers({
    chunks: (async function* chunks() {
      yield Buffer.from(`${PLAYERS_HEADER}\nalpha,ann,${id}\n`);
    })(),
    takeover: { take: async (lines) => lines.map(() => ({ kind: 'imported' })) },
    onRefused: () => undefined,
    onPlayer: () => undefined,
    onProgress: () => undefined,
  });
  expect(tally).toMatchObject({ imported: 1, invalid: 0 });
});
