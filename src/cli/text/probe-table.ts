import { plain } from '../../lib/plain-text.ts';
import { table } from '../../lib/table.ts';
import type { Probed } from '../../wallets/probe.ts';

const COLUMNS = [
  { title: 'operator', align: 'left' },
  { title: 'result', align: 'left' },
  { title: 'took', align: 'right' },
  { title: 'wallet', align: 'left' },
  { title: 'details', align: 'left' },
] as const;

/** One line per wallet, in columns. */
export function probeTable(probed: readonly Probed[]): string {
  return table(
    COLUMNS,
    probed.map(({ operator, result, latencyMs, wallet, detail }) => [
      operator,
      result,
      `${latencyMs} ms`,
      wallet,
      plain(detail),
    ]),
  );
}
