import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkPlayerLine,
  PLAYERS_HEADER,
  separatorOf,
} from '../../src/cli/onboarding/player-line.ts';
import { csvFields } from '../../src/lib/csv.ts';
import { type Line, readLines } from '../../src/lib/lines.ts';
import { within } from './support/cost.ts';
import { effort } from './support/effort.ts';
import { mutated } from './support/mutations.ts';

const FILE = `\u{feff}${PLAYERS_HEADER}\r\nalpha,player-17,"u-1"\nbeta,"p,2",u;2\n\n`;
const FILE_MS_MAX = 1_000;

async function linesOf(bytes: Buffer, cuts: readonly number[]): Promise<Line[]> {
  async function* pieces() {
    const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length];
    let from = 0;
    for (const end of ends.sort((a, b) => a - b)) {
      yield bytes.subarray(from, end);
      from = end;
    }
  }
  const lines: Line[] = [];
  for await (const line of readLines(pieces())) lines.push(line);
  return lines;
}

describe('a file of comma-separated values', () => {
  it('is the same lines, whatever its bytes are and wherever they are torn', async () => {
    await fc.assert(
      fc.asyncProperty(
        mutated([FILE]),
        fc.array(fc.nat(), { maxLength: 8 }),
        async (bytes, cuts) => {
          const lines = await linesOf(bytes, cuts);
          expect(lines).toEqual(await linesOf(bytes, []));
          expect(lines.map(({ number }) => number)).toEqual(lines.map((_, at) => at + 1));
          for (const line of lines) {
            const checked = checkPlayerLine(line, separatorOf(line) ?? ',');
            if (!checked.ok) expect(checked.why).not.toBe('');
            else expect(checked.player.userId).toBe(checked.player.userId.trim());
          }
        },
      ),
      effort(500),
    );
  });

  it('costs little, however its quotes and separators stand', () => {
    within(FILE_MS_MAX, () => {
      for (const piece of ['"', '""', ',', '";', '"a",', 'a"', '"",', '";"']) {
        csvFields(piece.repeat(20_000));
        csvFields(`"${piece.repeat(20_000)}`, ';');
      }
    });
  });
});
