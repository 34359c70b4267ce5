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
